// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Monotonic time of a run in nanoseconds from 0, tied once to the wall clock: a step of the wall
 * clock during the run moves nothing.
 */
public final class RunClock {
  private final long originNanos = System.nanoTime();
  private final Instant originTime = Instant.now();
  private final long originEpochMillis = originTime.toEpochMilli();

  /** Nanoseconds since this clock was made. */
  public long nanos() {
    return System.nanoTime() - originNanos;
  }

  /** The wall-clock time of a reading of {@link #nanos()}, in milliseconds since the epoch. */
  public long epochMillis(long nanos) {
    return originEpochMillis + Math.floorDiv(nanos, 1_000_000L);
  }

  /** The same with its fraction. */
  public double exactEpochMillis(long nanos) {
    Instant time = originTime.plusNanos(nanos);
    return ChronoUnit.MICROS.between(Instant.EPOCH, time) / 1e3;
  }

  /** The reading of {@link #nanos()} at a wall-clock time in milliseconds since the epoch. */
  public long nanosAt(long epochMillis) {
    return (epochMillis - originEpochMillis) * 1_000_000L;
  }
}
