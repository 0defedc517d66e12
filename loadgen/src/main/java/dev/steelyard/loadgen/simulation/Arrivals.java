// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings;
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
 *
 * <p>Of n injectors with the rate r together, each takes every n-th even arrival, or is a Poisson
 * process of its own with the rate r / n (variates of mean n): together they are what one would be.
 */
final class Arrivals {
  private static final double NANOS = 1e9;

  private final Settings settings;
  private final double rate;
  private final double rampSeconds;
  private final SplittableRandom random;
  private long index;
  private double sum;

  /**
   * @param settings with the rate of all injectors, the ramp, the gaps, and which injector it is
   * @param random source of exponential gaps, this injector's own
   */
  Arrivals(Settings settings, SplittableRandom random) {
    this.settings = settings;
    rate = settings.rate();
    rampSeconds = settings.rampSeconds();
    this.random = random;
  }

  /** The time of the next arrival. */
  synchronized long next() {
    double expected;
    if (settings.arrivals() == ArrivalGaps.EVEN) {
      expected = settings.turn(index++);
    } else {
      sum -= settings.injectors() * Math.log(1 - random.nextDouble());
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
