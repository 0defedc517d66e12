// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** How long somebody waits who looks often: the time in which this process is stopped is none. */
final class Patience {
  /** Longest time between two looks. */
  static final int POLL_MILLIS = 200;

  private static final long LONGEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5 * POLL_MILLIS);

  private final long limitNanos;
  private final LongSupplier clock;
  private long waitedNanos;
  private long looked;

  /**
   * @param clock nanoseconds that never go back
   */
  Patience(long limitSeconds, LongSupplier clock) {
    limitNanos = TimeUnit.SECONDS.toNanos(limitSeconds);
    this.clock = clock;
    looked = clock.getAsLong();
  }

  /** Whether it is over; to be asked at each look. */
  boolean isOver() {
    long now = clock.getAsLong();
    waitedNanos += Math.min(now - looked, LONGEST_LOOK_NANOS);
    looked = now;
    return waitedNanos > limitNanos;
  }
}
