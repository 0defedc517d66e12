// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench.database;

import java.util.ArrayList;
import java.util.List;

/**
 * What must hold in the tables of an application, whatever was done to them.
 *
 * @param name says it, or what is counted where it does not hold
 * @param sql counts the rows that break it
 * @param values of its parameters
 */
public record Invariant(String name, String sql, List<Object> values) {

  /** With parameters, or without. */
  public static Invariant of(String name, String sql, Object... values) {
    return new Invariant(name, sql, List.of(values));
  }

  /** How many rows break it. */
  public long rows(Database database) {
    return database.count(sql, values.toArray());
  }

  /**
   * {@code consistent}, or a line for each that does not hold, with the number of rows; with the
   * end of a line.
   */
  public static String report(Database database, List<Invariant> invariants) {
    List<String> broken = new ArrayList<>();
    for (Invariant invariant : invariants) {
      long rows = invariant.rows(database);
      if (rows > 0) {
        broken.add(invariant.name() + ": " + rows);
      }
    }
    return (broken.isEmpty() ? "consistent" : String.join("\n", broken)) + "\n";
  }
}
