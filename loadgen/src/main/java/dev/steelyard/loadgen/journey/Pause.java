// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.steelyard.loadgen.SettingsException;
import java.time.Duration;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Time between two operations of a user: one of think and cycle.
 *
 * @param think from the end of the operation
 * @param cycle from its start
 * @param distribution of its length; constant if it is null
 */
public record Pause(Duration think, Duration cycle, Distribution distribution) {
  /** Longer ones are cut (0.005 % of them): a single one could outlast the run. */
  private static final double MAX_MEANS = 10;

  /** No pause. */
  public static final Pause NONE = new Pause(Duration.ZERO, null, null);

  /** How lengths are drawn. */
  public enum Distribution {
    /** All the same. */
    @JsonProperty("constant")
    CONSTANT,
    /** Exponential, cut at 10 means. */
    @JsonProperty("exponential")
    EXPONENTIAL
  }

  /** Fills in and checks. */
  public Pause {
    SettingsException.one("think, cycle", think, cycle);
    distribution = Objects.requireNonNullElse(distribution, Distribution.CONSTANT);
  }

  /**
   * When the next operation is to start. An operation that outlasts its cycle is followed by the
   * next at once, whose own cycle begins then.
   *
   * @param started when the operation was to start
   * @param ended when it had ended
   * @param random source of exponential pauses
   */
  public long next(long started, long ended, SplittableRandom random) {
    long length = (think != null ? think : cycle).toNanos();
    if (distribution == Distribution.EXPONENTIAL) {
      length = Math.round(length * Math.min(MAX_MEANS, -Math.log(1 - random.nextDouble())));
    }
    return Math.max(ended, (think != null ? ended : started) + length);
  }
}
