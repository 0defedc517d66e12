// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.steelyard.loadgen.SettingsException;
import java.time.Duration;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Time between two operations of a user: one of think and cycle, its mean.
 *
 * @param think from the end of the operation
 * @param cycle from its start
 * @param distribution of its length; constant if it is null
 * @param minimum shortest length of an exponential or uniform one, from which it is drawn; 0 if it
 *     is null
 * @param maximum where an exponential or log-normal one is cut; 10 of its means above {@code
 *     minimum} if it is null. Of a uniform one it is as far from the mean as {@code minimum} is
 * @param deviation standard deviation of a log-normal one
 */
public record Pause(
    Duration think,
    Duration cycle,
    Distribution distribution,
    Duration minimum,
    Duration maximum,
    Duration deviation) {
  /** Longer ones are cut (0.005 % of them): a single one could outlast the run. */
  private static final double MAX_MEANS = 10;

  /** No pause. */
  public static final Pause NONE = new Pause(Duration.ZERO, null, null);

  /** How lengths are drawn. */
  public enum Distribution {
    /** All the same. */
    @JsonProperty("constant")
    CONSTANT,
    /** Exponential. */
    @JsonProperty("exponential")
    EXPONENTIAL,
    /** All from minimum to maximum alike. */
    @JsonProperty("uniform")
    UNIFORM,
    /** Log-normal, as what people take to read is. */
    @JsonProperty("log-normal")
    LOG_NORMAL
  }

  /** Fills in and checks. */
  public Pause {
    SettingsException.one("think, cycle", think, cycle);
    distribution = Objects.requireNonNullElse(distribution, Distribution.CONSTANT);
    minimum = Objects.requireNonNullElse(minimum, Duration.ZERO);
    Duration mean = think != null ? think : cycle;
    if (minimum.compareTo(mean) > 0 || (maximum != null && maximum.compareTo(mean) < 0)) {
      throw new SettingsException("", "must have its mean between minimum and maximum");
    }
    if ((distribution == Distribution.LOG_NORMAL) != (deviation != null)) {
      throw new SettingsException("deviation", "belongs to log-normal pauses, which need it");
    }
    if (distribution == Distribution.LOG_NORMAL && !minimum.isZero()) {
      throw new SettingsException("minimum", "belongs to exponential and uniform pauses");
    }
    if (distribution == Distribution.UNIFORM
        && maximum != null
        && !maximum.equals(mean.multipliedBy(2).minus(minimum))) {
      throw new SettingsException("maximum", "must be as far from the mean as minimum is");
    }
  }

  /** One without bounds. */
  public Pause(Duration think, Duration cycle, Distribution distribution) {
    this(think, cycle, distribution, null, null, null);
  }

  /**
   * A length in nanoseconds.
   *
   * @param random source of those that are not constant
   */
  public long length(SplittableRandom random) {
    long mean = (think != null ? think : cycle).toNanos();
    if (distribution == Distribution.CONSTANT) {
      return mean;
    }
    double means =
        switch (distribution) {
          case CONSTANT -> 1;
          case EXPONENTIAL -> -Math.log(1 - random.nextDouble());
          case UNIFORM -> 2 * random.nextDouble();
          case LOG_NORMAL -> logNormal(deviation.toNanos() / (double) mean, random);
        };
    double cut = Math.min(MAX_MEANS, means);
    long drawn = minimum.toNanos() + Math.round((mean - minimum.toNanos()) * cut);
    return maximum == null ? drawn : Math.min(drawn, maximum.toNanos());
  }

  /**
   * Of the mean 1. The logarithm of one with the coefficient of variation c is normal, with the
   * variance ln(1 + c^2) (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions,
   * chapter 14).
   */
  private static double logNormal(double variation, SplittableRandom random) {
    double variance = Math.log1p(variation * variation);
    return Math.exp(Math.sqrt(variance) * random.nextGaussian() - variance / 2);
  }

  /**
   * When the next operation is to start. An operation that outlasts its cycle is followed by the
   * next at once, whose own cycle begins then.
   *
   * @param started when the operation was to start
   * @param ended when it had ended
   * @param length that was drawn
   */
  public long next(long started, long ended, long length) {
    return Math.max(ended, (think != null ? ended : started) + length);
  }
}
