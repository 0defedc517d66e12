// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.ArrivalGaps;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.User;
import java.time.Instant;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ArrivalsTest {
  private static long[] take(int count, double rate, double ramp, ArrivalGaps gaps, long seed) {
    return take(count, settings(rate, ramp, gaps, 0, 1), seed);
  }

  private static Settings settings(
      double rate, double ramp, ArrivalGaps gaps, int injector, int injectors) {
    String json =
        """
        {"scenario": "acmeair-monolith", "targets": ["http://a"], "model": "open", "rate": %s,
         "arrivals": "%s", "rampSeconds": %s, "measureSeconds": 1, "output": "/load",
         "injector": %d, "injectors": %d}
        """
            .formatted(rate, gaps.name().toLowerCase(Locale.ROOT), ramp, injector, injectors);
    return SettingsReader.readVariable("TEST", json, Instant.EPOCH);
  }

  private static long[] take(int count, Settings settings, long seed) {
    Arrivals arrivals = new Arrivals(settings, new SplittableRandom(seed));
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

  /** Their even arrivals are one injector's; their random ones are as many, and no two the same. */
  @Test
  void severalInjectorsAreAsOne() {
    int injectors = 3;
    long[] together =
        IntStream.range(0, injectors)
            .mapToObj(i -> take(100, settings(300, 1, ArrivalGaps.EVEN, i, injectors), i))
            .flatMapToLong(LongStream::of)
            .sorted()
            .toArray();
    assertArrayEquals(take(300, 300, 1, ArrivalGaps.EVEN, 1), together);
    Set<Long> times = new HashSet<>();
    for (int i = 0; i < injectors; i++) {
      Settings own = settings(300, 0, ArrivalGaps.EXPONENTIAL, i, injectors);
      long[] drawn = take(10_000, own, User.draws(own.seed(), -1 - 2L * i).nextLong());
      assertEquals(100, drawn[9999] / 1e9, 5);
      LongStream.of(drawn).forEach(time -> assertTrue(times.add(time), "drawn twice"));
    }
  }

  @Test
  void seedDecidesTheGaps() {
    long[] times = take(50, 10, 1, ArrivalGaps.EXPONENTIAL, 3);
    assertArrayEquals(times, take(50, 10, 1, ArrivalGaps.EXPONENTIAL, 3));
    assertTrue(times[0] != take(1, 10, 1, ArrivalGaps.EXPONENTIAL, 4)[0]);
  }
}
