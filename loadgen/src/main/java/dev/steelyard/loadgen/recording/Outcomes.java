// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/**
 * Counts of what the journeys found in answers that are right either way, such as whether a flight
 * was on offer. A silent shift of a workload shows here and not in its errors. Thread-safe.
 */
public final class Outcomes implements IntConsumer {
  private final List<String> names;
  private final LongAdder[] counts;

  /**
   * @param names of the outcomes, by their index
   */
  public Outcomes(List<String> names) {
    this.names = names;
    counts = Stream.generate(LongAdder::new).limit(names.size()).toArray(LongAdder[]::new);
  }

  /** Counts one. */
  @Override
  public void accept(int index) {
    counts[index].increment();
  }

  /** Name to count since the start of the run. */
  Map<String, Long> totals() {
    Map<String, Long> totals = new LinkedHashMap<>();
    for (int i = 0; i < counts.length; i++) {
      totals.put(names.get(i), counts[i].sum());
    }
    return totals;
  }
}
