// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.JourneyHolder;
import io.gatling.javaapi.core.Session;

/**
 * State of one virtual user. It lives in the session as one mutable object, so that the steps
 * around a request copy no session. A user is run by one thread at a time.
 */
class VirtualUser implements JourneyHolder {
  final Run run;

  private Visitor visitor;
  private int operation;
  private long started;
  private long countsFrom;

  VirtualUser(Run run) {
    this.run = run;
  }

  /** Whose requests this user sends, from now on. */
  final void actFor(Visitor other) {
    visitor = other;
  }

  final Visitor visitor() {
    return visitor;
  }

  @Override
  public final Journey journey() {
    return visitor.journey();
  }

  /** Lets the visitor decide its next request. */
  final void choose() {
    operation = visitor.journey().next();
  }

  /**
   * Asks to send the chosen request.
   *
   * @param now the time on the run's clock
   * @param from when its latency starts to count
   * @return whether it may be sent
   */
  final boolean begin(long now, long from) {
    started = now;
    countsFrom = from;
    return run.control().admit(now);
  }

  /** Index of the request to send: target x operations + operation. */
  final int request() {
    return visitor.target() * run.operations() + operation;
  }

  /** Records the request that has ended; gives the session for the next one. */
  Session end(Session session) {
    boolean failed = session.isFailed();
    run.recorder().record(operation, started, countsFrom, run.clock().nanos(), failed);
    visitor.journey().ended(failed);
    run.control().leave();
    return failed ? session.markAsSucceeded() : session;
  }
}
