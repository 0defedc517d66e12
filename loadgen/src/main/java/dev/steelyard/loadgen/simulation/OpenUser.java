// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.recording.RunRecord;
import io.gatling.javaapi.core.Session;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A slot of the open model: it reserves the next arrival, waits for its time, sends it as the next
 * request of a visitor, and comes back for another. Slots are plenty, so that arrivals do not wait
 * for answers; if all are busy nevertheless, arrivals start late, and are counted so.
 */
final class OpenUser extends VirtualUser {
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(RunRecord.LATE_MILLIS);
  private static final long NONE = Long.MAX_VALUE;

  private final long giveUpNanos;
  private volatile long due = NONE;

  OpenUser(Run run) {
    super(run);
    giveUpNanos = TimeUnit.MILLISECONDS.toNanos(run.settings().requestTimeoutMillis());
  }

  /** Takes the next arrival; false if there is none before the end of the run. */
  boolean reserve() {
    long next = run.nextArrival();
    if (next >= run.control().deadline() || run.control().stopped()) {
      return false;
    }
    due = next;
    return true;
  }

  /** How long to wait for the reserved arrival: rounded up to milliseconds, the grain of timers. */
  Duration untilDue() {
    long nanos = Math.max(0, due - run.clock().nanos());
    return Duration.ofMillis((nanos + 999_999) / 1_000_000);
  }

  /**
   * Whether the reserved arrival is sent. Its latency counts from the moment it is sent; if that is
   * late, from the moment it was due, so that waiting for the injector hides nothing.
   */
  boolean begin() {
    long now = run.clock().nanos();
    long lateness = now - due;
    if (lateness > giveUpNanos) {
      due = NONE;
      run.countDropped();
      return false;
    }
    actFor(run.visitors().take());
    choose();
    now = run.clock().nanos();
    boolean late = now - due > LATE_NANOS;
    boolean admitted = begin(now, late ? due : now);
    if (admitted) {
      due = NONE;
      if (late) {
        run.countLate();
      }
    }
    return admitted;
  }

  @Override
  Session end(Session session) {
    Session next = super.end(session);
    run.visitors().giveBack(visitor());
    return next;
  }

  /**
   * Whether this slot holds an arrival that should have started, but did not before the run ended.
   */
  boolean missed(long endNanos) {
    return due < endNanos - LATE_NANOS;
  }
}
