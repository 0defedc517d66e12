// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.requests.Operation;
import java.util.List;
import java.util.Map;

/**
 * A scenario: the operations of a workload and how often each is drawn.
 *
 * @param name name in settings
 * @param operations all operations, in the order of reports
 * @param defaultMix operation to percent; sums to 100
 */
public record Workload(String name, List<Operation> operations, Map<String, Double> defaultMix) {
  /** Names of the operations, in order. */
  public List<String> operationNames() {
    return operations.stream().map(Operation::name).toList();
  }
}
