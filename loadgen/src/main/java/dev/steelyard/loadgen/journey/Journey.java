// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

/**
 * What one user does, step after step: a state machine that decides the next step, if need be from
 * what the servers answered. It knows nothing of Gatling.
 *
 * <p>Not thread-safe: it is used by one thread at a time, and {@link #next} and {@link #ended} come
 * in turns.
 */
public interface Journey {
  /**
   * Decides the next step.
   *
   * @return its index in the scenario's list
   */
  int next();

  /**
   * Learns how that step ended.
   *
   * @param failed whether it counts as an error: no answer, a wrong status or a wrong body
   */
  void ended(boolean failed);

  /** Whether the step that was decided last can be sent again, whatever came of it. */
  default boolean canRepeat() {
    return true;
  }

  /** The pause after the step that ended last; null leaves it to the settings. */
  default Pause pause() {
    return null;
  }
}
