// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * The one user of a probe: tries each operation until it is answered for the first time, and ends
 * the run when all have been. A failed try before that is no error: the servers are starting.
 */
final class ProbeUser extends VirtualUser {
  private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(20);

  private final Set<String> awaited;
  private boolean again;

  /**
   * @param activeUser whose operations it starts
   * @param due when it begins
   */
  ProbeUser(Run run, ActiveUser activeUser, long due) {
    super(run, due);
    this.activeUser = activeUser;
    awaited = new TreeSet<>(run.scenario.played());
  }

  @Override
  boolean begins() {
    if (!again) {
      choose();
    }
    return admitted();
  }

  @Override
  void ended(boolean failed, long answeredAt, long now) {
    String operation = run.scenario.operations().get(operation());
    boolean refused = failed && awaited.contains(operation);
    again = refused && journey().canRepeat();
    if (refused) {
      run.refused.increment();
      due = now + RETRY;
      if (!again) {
        journey().ended(true);
      }
      return;
    }
    record(failed, answeredAt);
    due = now;
    if (!failed && awaited.remove(operation) && awaited.isEmpty()) {
      run.control.stop(Control.Ending.ANSWERED, now);
    }
  }
}
