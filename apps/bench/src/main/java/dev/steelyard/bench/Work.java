// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Counts what an application does outside of HTTP requests: messages of a queue, and the frames of
 * a WebSocket. What is named like one of {@link Workload#operations()} counts as a request of it,
 * what is named like one of {@link Workload#messages()} is told apart.
 *
 * <p>Static, since a message-driven bean has no servlet context; this class is the application's
 * own, loaded from its {@code WEB-INF/lib}.
 */
public final class Work {

  private static final Work NONE =
      new Work(new OperationCounters(Set.of()), new OperationCounters(Set.of()));

  private static volatile Work current = NONE;

  private final OperationCounters operations;
  private final OperationCounters messages;

  private Work(OperationCounters operations, OperationCounters messages) {
    this.operations = operations;
    this.messages = messages;
  }

  /** Counts into these from now on. */
  static void into(OperationCounters operations, OperationCounters messages) {
    current = new Work(operations, messages);
  }

  /**
   * Does a piece of work, and counts it as an error if it throws.
   *
   * @param name of an operation, or of a kind of message
   */
  public static <T> T count(String name, Callable<T> work) throws Exception {
    long start = System.nanoTime();
    boolean error = true;
    try {
      T result = work.call();
      error = false;
      return result;
    } finally {
      ended(name, start, error);
    }
  }

  /**
   * Counts a piece of work that ends now.
   *
   * @param name of an operation, or of a kind of message
   * @param startNanos when it began, by {@link System#nanoTime()}
   * @param error whether it failed
   */
  public static void ended(String name, long startNanos, boolean error) {
    Work work = current;
    OperationCounters counters = work.messages.has(name) ? work.messages : work.operations;
    counters.record(name, System.nanoTime() - startNanos, error);
  }
}
