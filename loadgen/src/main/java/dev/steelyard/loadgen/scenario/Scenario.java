// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.requests.Step;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntConsumer;

/** What the users of a run do: steps that can be sent, and journeys that decide their order. */
public interface Scenario {
  /** All steps; their indexes are those of the journeys. */
  List<Step> steps();

  /** Names of the operations, in the order of reports. */
  default List<String> operations() {
    return steps().stream().map(Step::operation).distinct().toList();
  }

  /** Those of them that happen at all, and that a probe waits for. */
  default Set<String> played() {
    return new TreeSet<>(operations());
  }

  /** Names of the outcomes that journeys count, by their index. */
  default List<String> outcomes() {
    return List.of();
  }

  /** Figures of the summary. */
  default List<Ratio> ratios() {
    return List.of();
  }

  /**
   * The journeys of one run.
   *
   * @param outcomes is given the index of each outcome that is met; thread-safe
   */
  Journeys journeys(IntConsumer outcomes);
}
