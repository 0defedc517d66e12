// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import io.gatling.javaapi.core.Session;
import java.time.Duration;
import java.util.SplittableRandom;

/** A user of the closed model: request, think, request, until the run stops. */
final class ClosedUser extends VirtualUser {
  /** A dead server must not turn the loop into a busy one. */
  static final long PAUSE_AFTER_ERROR_MILLIS = 100;

  /** Longer think times are cut (0.005 % of them): a single one could outlast the run. */
  private static final double MAX_MEANS = 10;

  private final SplittableRandom random;
  private final Duration startDelay;
  private final int thinkTimeMillis;
  private Duration pause = Duration.ZERO;

  /**
   * @param visitor whose requests it sends
   * @param random source of think times
   * @param startDelay how long after the start of the load it begins
   */
  ClosedUser(Run run, Visitor visitor, SplittableRandom random, Duration startDelay) {
    super(run);
    actFor(visitor);
    this.random = random;
    this.startDelay = startDelay;
    thinkTimeMillis = run.settings().thinkTimeMillis();
  }

  Duration startDelay() {
    return startDelay;
  }

  /** Whether the user sends another request. */
  boolean begin() {
    choose();
    long now = run.clock().nanos();
    return begin(now, now);
  }

  @Override
  Session end(Session session) {
    long millis = thinkTimeMillis == 0 ? 0 : thinkTime();
    if (session.isFailed()) {
      millis = Math.max(millis, PAUSE_AFTER_ERROR_MILLIS);
    }
    pause = millis == 0 ? Duration.ZERO : Duration.ofMillis(millis);
    return super.end(session);
  }

  /** How long to wait after the request that has just ended. */
  Duration pause() {
    return pause;
  }

  private long thinkTime() {
    double means = Math.min(MAX_MEANS, -Math.log(1 - random.nextDouble()));
    return Math.round(thinkTimeMillis * means);
  }
}
