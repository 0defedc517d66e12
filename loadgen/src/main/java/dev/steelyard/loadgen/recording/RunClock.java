// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;

/**
 * Monotonic time of a run in nanoseconds from 0, tied once to the wall clock: a step of the wall
 * clock during the run moves nothing.
 */
public final class RunClock {
  private final LongSupplier source;
  private final long originNanos;
  private final Instant originTime = Instant.now();
  private final long originEpochMillis = originTime.toEpochMilli();

  /** The machine's. */
  public RunClock() {
    this(System::nanoTime);
  }

  /**
   * A clock that tests move.
   *
   * @param source of nanoseconds that never go back
   */
  public RunClock(LongSupplier source) {
    this.source = source;
    originNanos = source.getAsLong();
  }

  /** Nanoseconds since this clock was made. */
  public long nanos() {
    return source.getAsLong() - originNanos;
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
