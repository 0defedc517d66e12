// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

/** Starts the journeys of one run, and holds what they share. Thread-safe. */
@FunctionalInterface
public interface Journeys {
  /**
   * A new journey, before its first step.
   *
   * @param user who makes it
   */
  Journey start(User user);
}
