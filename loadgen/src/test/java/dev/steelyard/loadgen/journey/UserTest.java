// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class UserTest {
  @Test
  void sameUserDrawsTheSameAndOthersShareNothing() {
    assertEquals(new User(7, 3).random().nextLong(), new User(7, 3).random().nextLong());
    Set<Long> drawn = new HashSet<>();
    int users = 200;
    int draws = 500;
    for (int seed = 1; seed <= 2; seed++) {
      for (int index = -2; index < users - 2; index++) {
        SplittableRandom random = User.draws(seed, index);
        for (int i = 0; i < draws; i++) {
          drawn.add(random.nextLong());
        }
      }
    }
    // Sequences that are shifted against each other would have draws in common.
    assertEquals(2 * users * draws, drawn.size());
  }

  @Test
  void pausesCountFromTheEndOrFromTheStart() {
    SplittableRandom random = new SplittableRandom(1);
    assertEquals(70, new Pause(Duration.ofNanos(50), null, null).next(10, 20, random));
    assertEquals(60, new Pause(null, Duration.ofNanos(50), null).next(10, 20, random));
    assertEquals(
        90,
        new Pause(null, Duration.ofNanos(50), null).next(10, 90, random),
        "it outlasted its cycle");
    assertEquals(20, Pause.NONE.next(10, 20, random));
  }

  @Test
  void exponentialPausesHaveTheirMeanAndAreCut() {
    SplittableRandom random = new SplittableRandom(2);
    Pause pause = new Pause(Duration.ofNanos(1000), null, Pause.Distribution.EXPONENTIAL);
    int count = 400_000;
    double sum = 0;
    long longest = 0;
    for (int i = 0; i < count; i++) {
      long length = pause.next(0, 0, random);
      sum += length;
      longest = Math.max(longest, length);
    }
    assertEquals(1000, sum / count, 10);
    assertTrue(longest <= 10_000 && longest > 9_000, "longest " + longest);
  }
}
