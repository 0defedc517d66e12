// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.requests.Operation;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/** A scenario: the operations of a workload, and the journeys that decide their order. */
public interface Workload {
  /** Its name in settings. */
  String name();

  /** All operations, in the order of reports; their indexes are those of the journeys. */
  List<Operation> operations();

  /** Names of the operations, in order. */
  default List<String> operationNames() {
    return operations().stream().map(Operation::name).toList();
  }

  /** Names of the outcomes that journeys count, by their index. */
  List<String> outcomes();

  /** Figures of the summary. */
  List<Ratio> ratios();

  /**
   * How many visits follow a login if the settings do not say so. Empty: the workload has neither
   * customers nor visits, and its operations are drawn from a mix that the settings may give.
   */
  OptionalInt visitsPerLogin();

  /**
   * Operation to percent, sum 100: the mix that is drawn from if the settings give none, or the one
   * in which the journeys end up after a long time.
   *
   * @param visitsPerLogin visits per login; of no meaning without visits
   */
  Map<String, Double> mix(int visitsPerLogin);

  /**
   * The journeys of one run.
   *
   * @param settings settings of the run, for this workload
   * @param outcomes is given the index of each outcome that is met; thread-safe
   */
  Journeys journeys(Settings settings, IntConsumer outcomes);
}
