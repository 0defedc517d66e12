// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.SettingsException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

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
    Pause think = new Pause(Duration.ofNanos(50), null, null);
    Pause cycle = new Pause(null, Duration.ofNanos(50), null);
    assertEquals(70, think.next(10, 20, think.length(random)));
    assertEquals(60, cycle.next(10, 20, cycle.length(random)));
    assertEquals(90, cycle.next(10, 90, cycle.length(random)), "it outlasted its cycle");
    assertEquals(20, Pause.NONE.next(10, 20, Pause.NONE.length(random)));
  }

  @Test
  void exponentialPausesHaveTheirMeanAndAreCut() {
    SplittableRandom random = new SplittableRandom(2);
    Pause pause = new Pause(Duration.ofNanos(1000), null, Pause.Distribution.EXPONENTIAL);
    int count = 400_000;
    double sum = 0;
    long longest = 0;
    for (int i = 0; i < count; i++) {
      long length = pause.length(random);
      sum += length;
      longest = Math.max(longest, length);
    }
    assertEquals(1000, sum / count, 10);
    assertTrue(longest <= 10_000 && longest > 9_000, "longest " + longest);
  }

  @Test
  void exponentialPausesBeginAtTheLeastAndEndAtTheMost() {
    SplittableRandom random = new SplittableRandom(3);
    Pause pause =
        new Pause(
            null,
            Duration.ofSeconds(5),
            Pause.Distribution.EXPONENTIAL,
            Duration.ofSeconds(2),
            Duration.ofSeconds(11),
            null);
    double sum = 0;
    int cut = 0;
    int count = 400_000;
    for (int i = 0; i < count; i++) {
      double seconds = pause.length(random) / 1e9;
      assertTrue(seconds >= 2 && seconds <= 11, "length " + seconds);
      cut += seconds == 11 ? 1 : 0;
      sum += seconds;
    }
    assertEquals(Math.exp(-3), (double) cut / count, 0.002);
    assertEquals(2 + 3 * (1 - Math.exp(-3)), sum / count, 0.02);
    assertThrows(
        SettingsException.class,
        () -> new Pause(Duration.ofSeconds(1), null, null, Duration.ofSeconds(2), null, null));
  }

  @Test
  void uniformPausesLieAroundTheirMean() {
    SplittableRandom random = new SplittableRandom(4);
    Pause pause =
        new Pause(
            Duration.ofSeconds(5),
            null,
            Pause.Distribution.UNIFORM,
            Duration.ofSeconds(3),
            null,
            null);
    double sum = 0;
    int low = 0;
    int count = 400_000;
    for (int i = 0; i < count; i++) {
      double seconds = pause.length(random) / 1e9;
      assertTrue(seconds >= 3 && seconds <= 7, "length " + seconds);
      low += seconds < 4 ? 1 : 0;
      sum += seconds;
    }
    assertEquals(0.25, (double) low / count, 0.005);
    assertEquals(5, sum / count, 0.02);
  }

  @Test
  void logNormalPausesHaveTheirMeanAndDeviation() {
    SplittableRandom random = new SplittableRandom(5);
    Pause pause =
        new Pause(
            Duration.ofSeconds(5),
            null,
            Pause.Distribution.LOG_NORMAL,
            null,
            null,
            Duration.ofSeconds(2));
    double sum = 0;
    double squares = 0;
    int count = 400_000;
    for (int i = 0; i < count; i++) {
      double seconds = pause.length(random) / 1e9;
      sum += seconds;
      squares += seconds * seconds;
    }
    double mean = sum / count;
    assertEquals(5, mean, 0.05);
    assertEquals(2, Math.sqrt(squares / count - mean * mean), 0.05);
  }

  @Test
  void pausesThatCannotBeAreRefused() {
    Duration second = Duration.ofSeconds(1);
    Pause.Distribution uniform = Pause.Distribution.UNIFORM;
    Pause.Distribution logNormal = Pause.Distribution.LOG_NORMAL;
    for (Executable made :
        List.<Executable>of(
            () -> new Pause(second, null, logNormal, null, null, null),
            () -> new Pause(second, null, logNormal, second, null, second),
            () -> new Pause(second, null, uniform, null, null, second),
            () -> new Pause(second, null, uniform, null, Duration.ofSeconds(5), null))) {
      assertThrows(SettingsException.class, made);
    }
  }
}
