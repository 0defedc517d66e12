// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings.ArrivalGaps;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ArrivalsTest {
  private static long[] take(int count, double rate, double ramp, ArrivalGaps gaps, long seed) {
    Arrivals arrivals = new Arrivals(rate, ramp, gaps, new SplittableRandom(seed));
    long[] times = new long[count];
    for (int i = 0; i < count; i++) {
      times[i] = arrivals.next();
    }
    return times;
  }

  @Test
  void evenArrivalsAreAtMultiplesOfTheGap() {
    long[] times = take(1001, 400, 0, ArrivalGaps.EVEN, 1);
    assertEquals(0, times[0]);
    assertEquals(2_500_000, times[1]);
    assertEquals(2_500_000_000L, times[1000]);
  }

  @Test
  void rampGrowsLinearly() {
    // In a ramp of 2 s to 100/s come 100 arrivals, a quarter of them in its first half.
    long[] times = take(201, 100, 2, ArrivalGaps.EVEN, 1);
    assertEquals(1_000_000_000L, times[25]);
    assertEquals(2_000_000_000L, times[100]);
    assertEquals(3_000_000_000L, times[200]);
  }

  @Test
  void exponentialGapsHaveTheMeanAndSpreadOfAPoissonProcess() {
    int count = 100_000;
    long[] times = take(count, 1000, 0, ArrivalGaps.EXPONENTIAL, 7);
    double mean = times[count - 1] / (count - 1.0);
    double squares = 0;
    for (int i = 1; i < count; i++) {
      assertTrue(times[i] >= times[i - 1]);
      squares += Math.pow(times[i] - times[i - 1] - mean, 2);
    }
    assertEquals(1e6, mean, 2e4);
    assertEquals(1, Math.sqrt(squares / count) / mean, 0.02);
  }

  @Test
  void seedDecidesTheGaps() {
    long[] times = take(50, 10, 1, ArrivalGaps.EXPONENTIAL, 3);
    assertArrayEquals(times, take(50, 10, 1, ArrivalGaps.EXPONENTIAL, 3));
    assertTrue(times[0] != take(1, 10, 1, ArrivalGaps.EXPONENTIAL, 4)[0]);
  }
}
