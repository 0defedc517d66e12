// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.User;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class UserPoolTest {
  private int made;

  private UserPool pool(int targets, int first) {
    return new UserPool(
        targets,
        first,
        new SplittableRandom(4),
        target -> {
          made++;
          return new ActiveUser(new User(1, made), new Counter(), target);
        });
  }

  @Test
  void arrivalsGoRoundTheServersFromTheFirst() {
    UserPool pool = pool(3, 2);
    for (int i = 0; i < 300; i++) {
      ActiveUser activeUser = pool.take();
      assertEquals((i + 2) % 3, activeUser.target());
      if (i % 5 > 0) {
        pool.giveBack(activeUser);
      }
    }
  }

  @Test
  void fewVisitorsShareTheArrivalsEvenly() {
    UserPool pool = pool(1, 0);
    Map<ActiveUser, Integer> taken = new HashMap<>();
    int arrivals = UserPool.FEWEST * 200;
    for (int i = 0; i < arrivals; i++) {
      ActiveUser activeUser = pool.take();
      taken.merge(activeUser, 1, Integer::sum);
      pool.giveBack(activeUser);
    }
    assertEquals(UserPool.FEWEST, made);
    // Mean 200 and standard deviation 14: the seed is fixed, so this holds always or never.
    taken.values().forEach(count -> assertTrue(count > 120 && count < 280, "taken " + count));
  }

  @Test
  void nobodyIsTakenTwiceAndNewOnesComeWhenNoneIsFree() {
    UserPool pool = pool(2, 0);
    Set<ActiveUser> busy = new HashSet<>();
    for (int i = 0; i < 500; i++) {
      assertTrue(busy.add(pool.take()), "was busy");
    }
    assertEquals(500, made);
    busy.forEach(pool::giveBack);
    for (int i = 0; i < 500; i++) {
      assertTrue(busy.remove(pool.take()), "a free one is taken first");
    }
    assertEquals(500, made);
  }

  /** Two of them are never equal. */
  private static final class Counter implements Journey {
    @Override
    public int next() {
      return 0;
    }

    @Override
    public void ended(boolean failed) {
      // Nothing changes.
    }
  }
}
