// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.SplittableRandom;

/**
 * Time between two operations of a user.
 *
 * @param nanos its length or mean
 * @param cycle whether it runs from the start of the operation (a cycle time) or from its end (a
 *     think time)
 * @param exponential whether it is drawn from an exponential distribution
 */
public record Pause(long nanos, boolean cycle, boolean exponential) {
  /** Longer ones are cut (0.005 % of them): a single one could outlast the run. */
  private static final double MAX_MEANS = 10;

  /** No pause. */
  public static final Pause NONE = new Pause(0, false, false);

  /**
   * When the next operation is to start. An operation that outlasts its cycle is followed by the
   * next at once, whose own cycle begins then.
   *
   * @param started when the operation was to start
   * @param ended when it had ended
   * @param random source of exponential pauses
   */
  public long next(long started, long ended, SplittableRandom random) {
    long length = nanos;
    if (exponential && nanos > 0) {
      length = Math.round(nanos * Math.min(MAX_MEANS, -Math.log(1 - random.nextDouble())));
    }
    return Math.max(ended, (cycle ? started : ended) + length);
  }
}
