// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.SplittableRandom;

/** Starts the journeys of one run, and holds what they share. Thread-safe. */
@FunctionalInterface
public interface Journeys {
  /**
   * A new journey, at its first request.
   *
   * @param random its own source of choices
   */
  Journey start(SplittableRandom random);
}
