// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Requests, errors and service time of each operation since the application started.
 *
 * <p>The table is fixed when it is made and the counters are {@link LongAdder}s, so that recording
 * neither locks nor makes the cores fight over one cache line.
 */
public final class OperationCounters {

  /** The operation to which a request belongs that is none of the workload's. */
  public static final String OTHER = "other";

  /**
   * The figures of one operation.
   *
   * @param requests requests that have ended, with or without an error
   * @param errors those of them that failed
   * @param serviceTimeNanos the sum of their service times, in nanoseconds
   */
  public record Totals(long requests, long errors, long serviceTimeNanos) {}

  private static final class Cell {
    final LongAdder requests = new LongAdder();
    final LongAdder errors = new LongAdder();
    final LongAdder serviceTimeNanos = new LongAdder();

    Totals totals() {
      return new Totals(requests.sum(), errors.sum(), serviceTimeNanos.sum());
    }
  }

  private final Map<String, Cell> cells;
  private final Cell other = new Cell();

  /** Makes counters, all zero, for these operations and for {@link #OTHER}. */
  public OperationCounters(Set<String> operations) {
    Map<String, Cell> table = new HashMap<>();
    operations.forEach(operation -> table.put(operation, new Cell()));
    table.put(OTHER, other);
    cells = Map.copyOf(table);
  }

  /** Whether it has counters of its own for an operation. */
  boolean has(String operation) {
    return cells.containsKey(operation) && !operation.equals(OTHER);
  }

  /**
   * Counts one request that has ended.
   *
   * @param operation its operation; an unknown one is counted as {@link #OTHER}
   * @param serviceTimeNanos from the request's arrival at the application to its end
   * @param error whether it failed
   */
  public void record(String operation, long serviceTimeNanos, boolean error) {
    Cell cell = cells.getOrDefault(operation, other);
    cell.requests.increment();
    cell.serviceTimeNanos.add(serviceTimeNanos);
    if (error) {
      cell.errors.increment();
    }
  }

  /**
   * The figures of all operations, by name. {@link #OTHER} appears only once it has been used.
   *
   * <p>This is not an atomic snapshot: a request that ends meanwhile may be in one figure and not
   * yet in another. Figures never go back.
   */
  public SortedMap<String, Totals> totals() {
    SortedMap<String, Totals> totals = new TreeMap<>();
    cells.forEach((operation, cell) -> totals.put(operation, cell.totals()));
    if (totals.get(OTHER).requests() == 0) {
      totals.remove(OTHER);
    }
    return totals;
  }
}
