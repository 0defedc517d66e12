// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.recording.RunRecord;
import java.util.concurrent.TimeUnit;

/**
 * A slot of the open model: it reserves the next arrival (when: {@link WaitingSlots}), starts it at
 * its time as the next operation of a user, and comes back for another. Slots are plenty, so that
 * arrivals do not wait for answers; if all are busy nevertheless, arrivals start late, and are
 * counted so.
 */
final class OpenUser extends VirtualUser {
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(RunRecord.LATE_MILLIS);
  private static final long NONE = Long.MAX_VALUE;

  private final long giveUpNanos;
  private volatile long reserved = NONE;

  OpenUser(Run run) {
    super(run, NONE);
    giveUpNanos = TimeUnit.MILLISECONDS.toNanos(run.settings.requestTimeoutMillis());
  }

  /** Whether it has had no arrival yet. */
  boolean isNew() {
    return activeUser == null;
  }

  /** Takes the next arrival; false if there is none before the end of the run. */
  boolean reserve() {
    // One that it holds was not admitted: the run is over, and it has to be counted as missed.
    if (reserved != NONE || run.control.stopped()) {
      return false;
    }
    long next = run.nextArrival();
    if (next >= run.control.deadline()) {
      return false;
    }
    due = next;
    reserved = next;
    return true;
  }

  /** Its latency counts from when it was due, however late it starts: waiting hides nothing. */
  @Override
  boolean begins() {
    long lateness = -untilDue();
    if (lateness > giveUpNanos) {
      reserved = NONE;
      run.dropped.increment();
      return false;
    }
    activeUser = run.userPool.take();
    choose();
    boolean late = -untilDue() > LATE_NANOS;
    boolean admitted = admitted();
    if (admitted) {
      reserved = NONE;
      if (late) {
        run.late[operation()].increment();
      }
    }
    return admitted;
  }

  @Override
  void ended(boolean failed, long answeredAt, long now) {
    record(failed, answeredAt);
    run.userPool.giveBack(activeUser);
  }

  /**
   * Whether this slot holds an arrival that should have started, but did not before the run ended.
   */
  boolean missed(long endNanos) {
    return reserved < endNanos - LATE_NANOS;
  }
}
