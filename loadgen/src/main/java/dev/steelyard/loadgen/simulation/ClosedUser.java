// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.journey.Pause;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** A user of the closed model: an operation, a pause, an operation, until the run stops. */
class ClosedUser extends VirtualUser {
  /** A dead server must not turn the loop into a busy one. */
  private static final long PAUSE_AFTER_ERROR = TimeUnit.MILLISECONDS.toNanos(100);

  private final SplittableRandom random;
  private final Pause usualPause;

  /**
   * @param activeUser whose operations it starts
   * @param due when it begins
   */
  ClosedUser(Run run, ActiveUser activeUser, long due) {
    super(run, due);
    this.activeUser = activeUser;
    random = activeUser.user().random().split();
    int think = run.settings.thinkTimeMillis();
    usualPause =
        think == 0
            ? Pause.NONE
            : new Pause(Duration.ofMillis(think), null, Pause.Distribution.EXPONENTIAL);
  }

  @Override
  boolean begins() {
    choose();
    return admitted();
  }

  /** The next operation is intended when the user has read the answer and has paused. */
  @Override
  void ended(boolean failed, long answeredAt, long now) {
    record(failed, answeredAt);
    Pause own = journey().pause();
    Pause pause = own == null ? usualPause : own;
    long length = pause.length(random);
    long next = pause.next(due, now, length);
    if (failed) {
      next = Math.max(next, now + PAUSE_AFTER_ERROR);
    } else if (pause.cycle() != null) {
      run.cycles.add(operation(), length, next - due);
    }
    // Neither latency, from due to the answer, nor pause, from now to next: time without load.
    run.ownNanos.add(now - answeredAt);
    due = next;
  }
}
