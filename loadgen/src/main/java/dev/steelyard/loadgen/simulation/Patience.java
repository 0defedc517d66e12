// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import java.util.concurrent.TimeUnit;

/** How long somebody waits who looks often: the time in which this process is stopped is none. */
final class Patience {
  /** Longest time between two looks. */
  static final int POLL_MILLIS = 200;

  private static final long LONGEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5 * POLL_MILLIS);

  private final long limitNanos;
  private long waitedNanos;
  private long looked = System.nanoTime();

  Patience(long limitSeconds) {
    limitNanos = TimeUnit.SECONDS.toNanos(limitSeconds);
  }

  /** Whether it is over; to be asked at each look. */
  boolean isOver() {
    long now = System.nanoTime();
    waitedNanos += Math.min(now - looked, LONGEST_LOOK_NANOS);
    looked = now;
    return waitedNanos > limitNanos;
  }
}
