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
 * @param least shortest length of an exponential one, from which it is drawn; 0 if it is null
 * @param most where an exponential one is cut; 10 of its means above {@code least} if it is null
 */
public record Pause(
    Duration think, Duration cycle, Distribution distribution, Duration least, Duration most) {
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
    EXPONENTIAL
  }

  /** Fills in and checks. */
  public Pause {
    SettingsException.one("think, cycle", think, cycle);
    distribution = Objects.requireNonNullElse(distribution, Distribution.CONSTANT);
    least = Objects.requireNonNullElse(least, Duration.ZERO);
    Duration mean = think != null ? think : cycle;
    if (least.compareTo(mean) > 0 || (most != null && most.compareTo(mean) < 0)) {
      throw new SettingsException("", "must have its mean between least and most");
    }
  }

  /** One without bounds. */
  public Pause(Duration think, Duration cycle, Distribution distribution) {
    this(think, cycle, distribution, null, null);
  }

  /**
   * A length in nanoseconds.
   *
   * @param random source of exponential ones
   */
  public long length(SplittableRandom random) {
    long mean = (think != null ? think : cycle).toNanos();
    if (distribution == Distribution.CONSTANT) {
      return mean;
    }
    double means = Math.min(MAX_MEANS, -Math.log(1 - random.nextDouble()));
    long drawn = least.toNanos() + Math.round((mean - least.toNanos()) * means);
    return most == null ? drawn : Math.min(drawn, most.toNanos());
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
