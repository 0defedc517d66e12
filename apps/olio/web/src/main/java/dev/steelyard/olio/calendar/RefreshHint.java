// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import jakarta.persistence.Query;
import java.util.Map;

/**
 * Reads what is in the database now. A JVM keeps rows for two minutes, and takes what it keeps even
 * where a query has just read a newer row that another JVM wrote, unless it is told not to.
 */
final class RefreshHint {

  private static final String REFRESH = "eclipselink.refresh";

  /** For finding one row. */
  static final Map<String, Object> ROW = Map.of(REFRESH, true);

  private RefreshHint() {}

  /** The same query, whose rows replace what is kept of them: no statement more. */
  static <Q extends Query> Q refreshed(Q query) {
    query.setHint(REFRESH, true);
    return query;
  }
}
