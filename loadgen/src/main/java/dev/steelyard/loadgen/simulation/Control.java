// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Admission of requests: decides when no request may start any more, and knows when the last one
 * has ended. Times are readings of the run's clock.
 */
final class Control {
  /** What ended a run. */
  enum Ending {
    /** The configured time is over. */
    TIME("time"),
    /** The stop file appeared. */
    STOP_FILE("stop file"),
    /** The JVM was told to end. */
    SIGNAL("signal"),
    /** A probe has seen every operation answered. */
    ANSWERED("all answered"),
    /** The run has failed. */
    FAILURE("failure");

    private final String text;

    Ending(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }

  /** By operation. */
  private final LongAdder[] begun;

  private final LongAdder[] ended;
  private volatile long deadline = Long.MAX_VALUE;
  private volatile long stoppedAt = Long.MAX_VALUE;
  private volatile boolean drained;
  private Ending ending;

  /**
   * @param operations number of operations; they are named by their index
   */
  Control(int operations) {
    begun = newCounts(operations);
    ended = newCounts(operations);
  }

  static LongAdder[] newCounts(int operations) {
    return Stream.generate(LongAdder::new).limit(operations).toArray(LongAdder[]::new);
  }

  static long sum(LongAdder[] counts) {
    long sum = 0;
    for (LongAdder count : counts) {
      sum += count.sum();
    }
    return sum;
  }

  /** Sets the time from which no request starts. */
  void endAt(long nanos) {
    deadline = nanos;
  }

  long deadline() {
    return deadline;
  }

  /** Lets no further request start. The first reason counts. */
  synchronized void stop(Ending reason, long now) {
    if (ending == null) {
      ending = reason;
      stoppedAt = now;
    }
  }

  synchronized Ending ending() {
    return ending;
  }

  boolean stopped() {
    return stoppedAt != Long.MAX_VALUE;
  }

  /** When it was stopped; {@code Long.MAX_VALUE} before that. */
  long stoppedAt() {
    return stoppedAt;
  }

  /** Asks to start a request; whoever gets true calls {@link #leave} when the request has ended. */
  boolean admit(int operation, long now) {
    // Whoever asks after the end is in no count: a user who stands still here is no request in
    // flight.
    if (!lets(now)) {
      return false;
    }
    begun[operation].increment();
    // Counted first, asked second: then drained() cannot miss a request that slips in while the run
    // is being stopped.
    VarHandle.fullFence();
    if (lets(now)) {
      return true;
    }
    ended[operation].increment();
    return false;
  }

  private boolean lets(long now) {
    return now < deadline && !stopped();
  }

  /** Counts the end of an admitted request. */
  void leave(int operation) {
    ended[operation].increment();
  }

  /** Requests in flight, and at most one more for each user who is asking; not below 0. */
  long inFlight() {
    // This order: both only grow, so that a difference of 0 proves that there was a moment without
    // any.
    long done = sum(ended);
    return sum(begun) - done;
  }

  /** Those of one operation that were in flight when nobody waited for them any longer. */
  long abandoned(int operation) {
    long done = ended[operation].sum();
    return drained ? 0 : begun[operation].sum() - done;
  }

  /** Whether no request is in flight and none will start; from then on that stays so. */
  boolean drained() {
    drained = drained || (stopped() && inFlight() == 0);
    return drained;
  }
}
