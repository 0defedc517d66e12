// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import io.gatling.javaapi.core.Session;
import java.util.SplittableRandom;

/**
 * State of one virtual user. It lives in the session as one mutable object, so that the steps
 * around a request copy no session. A user is run by one thread at a time.
 */
class VirtualUser {
  final Run run;
  final SplittableRandom random;

  private final int firstRequest;
  private int operation;
  private long started;
  private long countsFrom;

  /**
   * @param target index of the server that this user talks to
   */
  VirtualUser(Run run, int target, SplittableRandom random) {
    this.run = run;
    this.random = random;
    this.firstRequest = target * run.operations();
  }

  /**
   * Draws an operation and asks to send it.
   *
   * @param now the time on the run's clock
   * @param from when its latency starts to count
   * @return whether it may be sent
   */
  final boolean begin(long now, long from) {
    operation = run.mix().draw(random);
    started = now;
    countsFrom = from;
    return run.control().admit(now);
  }

  /** Index of the request to send: target x operations + operation. */
  final int request() {
    return firstRequest + operation;
  }

  /** Records the request that has ended; gives the session for the next one. */
  Session end(Session session) {
    boolean failed = session.isFailed();
    run.recorder().record(operation, started, countsFrom, run.clock().nanos(), failed);
    run.control().leave();
    return failed ? session.markAsSucceeded() : session;
  }
}
