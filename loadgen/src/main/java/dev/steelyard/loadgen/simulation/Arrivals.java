// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings.ArrivalGaps;
import java.util.SplittableRandom;

/**
 * The arrival times of the open model, in order, in nanoseconds after the start of the load.
 * Thread-safe.
 *
 * <p>Arrival k (from 0) is at the time t at which the expected number of arrivals L(t) reaches
 * s(k). After a ramp of R seconds to the rate r, L(t) = r (t - R / 2); during it, L(t) = r t^2 / (2
 * R). Even gaps: s(k) = k. Exponential gaps: s(k) = the sum of k + 1 exponential variates of mean
 * 1, which gives a Poisson process (time change of a unit process).
 */
final class Arrivals {
  private static final double NANOS = 1e9;

  private final double rate;
  private final double rampSeconds;
  private final ArrivalGaps gaps;
  private final SplittableRandom random;
  private long index;
  private double sum;

  /**
   * @param rate arrivals per second after the ramp
   * @param rampSeconds length of the linear ramp from 0
   * @param gaps distribution of the gaps
   * @param random source of exponential gaps
   */
  Arrivals(double rate, double rampSeconds, ArrivalGaps gaps, SplittableRandom random) {
    this.rate = rate;
    this.rampSeconds = rampSeconds;
    this.gaps = gaps;
    this.random = random;
  }

  /** The time of the next arrival. */
  synchronized long next() {
    double expected;
    if (gaps == ArrivalGaps.EVEN) {
      expected = index++;
    } else {
      sum -= Math.log(1 - random.nextDouble());
      expected = sum;
    }
    return Math.round(seconds(expected) * NANOS);
  }

  private double seconds(double expected) {
    double inRamp = rate * rampSeconds / 2;
    return expected < inRamp
        ? Math.sqrt(2 * rampSeconds * expected / rate)
        : rampSeconds / 2 + expected / rate;
  }
}
