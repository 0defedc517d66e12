// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

/**
 * What one virtual user does, request after request: a state machine that decides the next
 * operation, if need be from what the servers answered. It knows nothing of Gatling.
 *
 * <p>Not thread-safe: it is used by one thread at a time, and {@link #next} and {@link #ended} come
 * in turns.
 */
public interface Journey {
  /**
   * Decides the next request.
   *
   * @return index of its operation in the workload's list
   */
  int next();

  /**
   * Learns how that request ended.
   *
   * @param failed whether it counts as an error: no answer, a wrong status or a wrong body
   */
  void ended(boolean failed);
}
