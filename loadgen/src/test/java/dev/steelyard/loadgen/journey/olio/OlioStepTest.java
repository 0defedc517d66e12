// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.journey.Pause;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OlioStepTest {
  private static final double SECOND = 1e9;
  private static final int DRAWS = 200_000;

  /**
   * The sheet, section 3.2: from start to start, with a mean of 5 s, of which what lies above 25 s
   * is cut off; a mean of 4.966 s is left of the first ones.
   */
  @ParameterizedTest
  @CsvSource({
    "HOME_PAGE, 0, 4.966, 3.466",
    "LOGIN, 0, 4.966, 3.466",
    "TAG_SEARCH, 0, 4.966, 3.466",
    "EVENT_DETAIL, 0, 4.966, 3.466",
    "PERSON_DETAIL, 0, 4.966, 3.466",
    "ADD_PERSON, 2, 4.999, 4.079",
    "ADD_EVENT, 3, 5.000, 4.386",
  })
  void cyclesAreExponentialFromTheirLeastToTwentyFiveSeconds(
      OlioStep step, int least, double mean, double median) {
    Pause cycle = step.cycle();
    assertEquals(Duration.ofSeconds(5), cycle.cycle());
    assertNull(cycle.think());
    SplittableRandom random = new SplittableRandom(3);
    double[] drawn = new double[DRAWS];
    for (int i = 0; i < DRAWS; i++) {
      drawn[i] = cycle.length(random) / SECOND;
    }
    Arrays.sort(drawn);
    assertEquals(least, drawn[0], 0.001);
    // Chance moves a mean of so many by 0.011 s, a median by as much.
    assertEquals(mean, Arrays.stream(drawn).average().orElseThrow(), 0.04);
    assertEquals(median, drawn[DRAWS / 2], 0.04);
    double most = drawn[DRAWS - 1];
    assertTrue(most <= 25 && most > 20, "longest " + most);
    double cut = Arrays.stream(drawn).filter(each -> each == 25).count() / (double) DRAWS;
    assertEquals(Math.exp(-(25.0 - least) / (5 - least)), cut, 0.001);
  }
}
