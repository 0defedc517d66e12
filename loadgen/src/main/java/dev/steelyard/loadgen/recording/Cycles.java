// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cycle times of closed users: what they drew and what came of it, by operation. Where operations
 * outlast their cycles, users offer less load than was asked for, and it shows here. Thread-safe.
 */
public final class Cycles {
  private final List<String> operations;
  private final long[] counts;
  private final long[] drawn;
  private final long[] actual;

  /**
   * @param operations their names, by their index
   */
  public Cycles(List<String> operations) {
    this.operations = operations;
    counts = new long[operations.size()];
    drawn = new long[operations.size()];
    actual = new long[operations.size()];
  }

  /**
   * Those of one operation in an interval.
   *
   * @param count operations that ended
   * @param drawnSeconds their cycle times as drawn, added up
   * @param actualSeconds from the start of each to the start of the user's next, added up
   */
  public record Cycle(long count, double drawnSeconds, double actualSeconds) {}

  /** Adds one, in nanoseconds. */
  public synchronized void add(int operation, long drawnNanos, long actualNanos) {
    counts[operation]++;
    drawn[operation] += drawnNanos;
    actual[operation] += actualNanos;
  }

  /** Those since the last call; null if there are none. */
  synchronized Map<String, Cycle> drain() {
    Map<String, Cycle> found = new LinkedHashMap<>();
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        found.put(operations.get(i), new Cycle(counts[i], drawn[i] / 1e9, actual[i] / 1e9));
      }
      counts[i] = 0;
      drawn[i] = 0;
      actual[i] = 0;
    }
    return found.isEmpty() ? null : found;
  }
}
