// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.requests.CurrentUser;
import io.gatling.javaapi.core.Session;
import java.util.function.BooleanSupplier;

/**
 * State of one virtual user. It lives in the session as one mutable object, so that what is done
 * around an operation copies no session. A user is run by one thread at a time.
 *
 * <p>Gatling goes on after an exception of ours as if the operation had failed: whatever is thrown
 * here ends the run instead, because nothing that is recorded after it can be trusted.
 */
abstract class VirtualUser implements CurrentUser {
  private static final long NEVER = Long.MIN_VALUE;

  final Run run;

  /** Whose operations this user starts. */
  ActiveUser activeUser;

  /** When the next operation is to start, on the run's clock. */
  long due;

  private int step;
  private long started;
  private long answered;

  /**
   * @param due when its first operation is to start
   */
  VirtualUser(Run run, long due) {
    this.run = run;
    this.due = due;
  }

  @Override
  public final Journey journey() {
    return activeUser.journey();
  }

  @Override
  public final User user() {
    return activeUser.user();
  }

  /** Of a page, the last part to arrive counts. */
  @Override
  public final void answered() {
    answered = run.clock.nanos();
  }

  /** Nanoseconds until the next operation; not above 0 if it is time. */
  final long untilDue() {
    return due - run.clock.nanos();
  }

  /** Whether another operation starts. */
  final boolean begin() {
    return guarded(this::begins);
  }

  /** Chooses the operation and asks whether it may start. */
  abstract boolean begins();

  /** Lets the user decide its next step. */
  final void choose() {
    step = activeUser.journey().next();
  }

  /** Whether there is a next step. */
  final boolean chosen() {
    return step >= 0;
  }

  /** Asks to start the chosen step. */
  final boolean admitted() {
    started = run.clock.nanos();
    answered = NEVER;
    return run.control.admit(operation(), started);
  }

  /** Index of what to send: target x steps + step. */
  final int exchange() {
    return activeUser.target() * run.steps() + step;
  }

  final int operation() {
    return run.operationOf(step);
  }

  /** Ends the operation that was begun; gives the session for the next one. */
  final Session end(Session session) {
    boolean failed = session.isFailed();
    guarded(
        () -> {
          long now = run.clock.nanos();
          ended(failed, failed || answered == NEVER ? now : answered, now);
          return true;
        });
    run.control.leave(operation());
    return failed ? session.markAsSucceeded() : session;
  }

  /**
   * Records the operation and prepares the next one.
   *
   * @param failed whether it counts as an error
   * @param answeredAt when the last byte of its answer had arrived
   * @param now when it had been checked, too
   */
  abstract void ended(boolean failed, long answeredAt, long now);

  /** Records the operation, and tells the journey. */
  final void record(boolean failed, long answeredAt) {
    run.recorder.record(operation(), started, due, answeredAt, failed);
    activeUser.journey().ended(failed);
  }

  /** Does it; if it throws, the run has failed. */
  final boolean guarded(BooleanSupplier action) {
    try {
      return action.getAsBoolean();
    } catch (RuntimeException | Error e) {
      run.fail(e);
      return false;
    }
  }
}
