// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.User;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UserPoolTest {
  private int made;
  private long now;

  private UserPool pool(int targets, int first) {
    return new UserPool(
        targets,
        first,
        new SplittableRandom(4),
        () -> now,
        target -> {
          made++;
          return new ActiveUser(new User(1, made), new Rounds(), target);
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

  /**
   * While a server stands still, each arrival needs a user of its own, who logs in. If all of them
   * went on, they would log in, search and log out together for many windows.
   */
  @Test
  void afterAStallTheMixIsRightAtOnce() {
    UserPool pool = pool(1, 0);
    int[] requests = new int[Rounds.STEPS];
    makeRequests(pool, 10_000, requests);
    List<ActiveUser> waiting = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      ActiveUser activeUser = pool.take();
      activeUser.journey().next();
      waiting.add(activeUser);
    }
    waiting.forEach(pool::giveBack);
    makeRequests(pool, 400, requests);

    Arrays.fill(requests, 0);
    makeRequests(pool, 1600, requests);
    for (int step = 0; step < Rounds.STEPS; step++) {
      // A tenth is 160 and has a standard deviation of at most 12.
      int count = requests[step];
      assertTrue(count > 112 && count < 208, "step " + step + ": " + count);
    }
  }

  /** A session, and a socket, of one who is left alone for long would be gone at the server. */
  @Test
  void nobodyIsLeftAloneForMuchLongerThanAMinute() {
    UserPool pool = pool(1, 0);
    List<ActiveUser> all = IntStream.range(0, 200).mapToObj(i -> pool.take()).toList();
    all.forEach(pool::giveBack);
    Map<ActiveUser, Long> last = new HashMap<>();
    all.forEach(activeUser -> last.put(activeUser, now));
    long longest = 0;
    for (int arrival = 0; arrival < 20_000; arrival++) {
      now += UserPool.LONGEST_IDLE_NANOS / 1200;
      ActiveUser activeUser = pool.take();
      longest = Math.max(longest, now - last.put(activeUser, now));
      pool.giveBack(activeUser);
    }
    assertEquals(200, made);
    assertTrue(longest > UserPool.LONGEST_IDLE_NANOS, "nobody had to wait: no test");
    // Those who came free together are due together, and one arrival is one of them.
    assertTrue(longest < 1.5 * UserPool.LONGEST_IDLE_NANOS, longest / 1e9 + " s");
  }

  private static void makeRequests(UserPool pool, int arrivals, int[] requests) {
    for (int i = 0; i < arrivals; i++) {
      ActiveUser activeUser = pool.take();
      requests[activeUser.journey().next()]++;
      pool.giveBack(activeUser);
    }
  }

  /**
   * Ten steps in turn, as of a user who logs in, looks around, and logs out. Two of them are never
   * equal.
   */
  private static final class Rounds implements Journey {
    static final int STEPS = 10;
    private int step;

    @Override
    public int next() {
      return step++ % STEPS;
    }

    @Override
    public void ended(boolean failed) {
      // Nothing changes.
    }
  }
}
