// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What an application says about itself. Found through {@link java.util.ServiceLoader}: name the
 * implementation in {@code META-INF/services/dev.steelyard.bench.Workload}.
 */
public interface Workload {

  /**
   * A request attribute by which the application may name the operation while it performs it, where
   * that depends on what only the application reads, such as the body. It overrides {@link
   * #operationOf}.
   */
  String OPERATION = "dev.steelyard.bench.operation";

  /** The name of the workload, such as {@code ping}. */
  String name();

  /** The version of the workload: results of different versions are not comparable. */
  String version();

  /** The hash of the data set that is loaded now, or nothing where the workload has no data. */
  default Optional<String> dataSetHash() {
    return Optional.empty();
  }

  /**
   * What the application was told and how it was made, name by text, for people who read results.
   * Asked whenever somebody reads {@code /bench/info}.
   */
  default Map<String, String> settings() {
    return Map.of();
  }

  /**
   * Whether the application can serve its operations now, so that requests may be sent to it: with
   * or without what its operations can go on without. Must answer quickly.
   */
  default boolean ready() {
    return true;
  }

  /**
   * Whether all that its operations call is there now: what a load waits for before it begins. Says
   * more than {@link #ready} where operations go on without something. Must answer quickly.
   */
  default boolean started() {
    return ready();
  }

  /**
   * Names of the servlets that perform the operations, where the container adds them: the class of
   * a REST application is the name of its servlet (Jakarta RESTful Web Services 3.1, 2.3.2). A
   * server that has started without one of them ends.
   */
  default Set<String> servlets() {
    return Set.of();
  }

  /**
   * Every operation of the workload. Asked once, at start: a fixed set keeps counting free of locks
   * and keeps hostile requests from growing the table of counters.
   */
  Set<String> operations();

  /**
   * Whether a request that is no operation is counted, as {@code other}. Not so where an operation
   * is a page with all that a browser asks for beside it: then one request of it counts.
   */
  default boolean countsOther(HttpServletRequest request) {
    return true;
  }

  /**
   * Kinds of work that no client asks for, such as messages of a queue: counted by {@link Work} and
   * told apart from the operations.
   */
  default Set<String> messages() {
    return Set.of();
  }

  /**
   * The operation that a request performs. Called once for each request, before it is handled, on
   * the hot path; must not consume the request's body. Where this cannot tell, see {@link
   * #OPERATION}.
   *
   * @return one of {@link #operations()}; anything else is counted as {@link
   *     OperationCounters#OTHER}
   */
  Optional<String> operationOf(HttpServletRequest request);
}
