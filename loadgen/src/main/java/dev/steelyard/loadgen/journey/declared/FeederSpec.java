// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static dev.steelyard.loadgen.SettingsException.filled;
import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.steelyard.loadgen.SettingsException;
import java.util.List;

/**
 * Rows of values that visits take: of each, {@code ${feeder.column}} is a value.
 *
 * @param columns their names
 * @param rows as many values each as there are columns
 * @param order which row a visit takes
 */
public record FeederSpec(List<String> columns, List<List<String>> rows, Order order) {
  /** Which row a visit takes. */
  public enum Order {
    /** The next one, until there is none. */
    @JsonProperty("rows")
    ROWS,
    /** The next one, the first after the last. */
    @JsonProperty("circular")
    CIRCULAR,
    /** Any. */
    @JsonProperty("random")
    RANDOM,
    /** Always that of the user, which no other has. */
    @JsonProperty("user")
    USER
  }

  /** Fills in and checks. */
  public FeederSpec {
    filled("columns", columns);
    filled("rows", rows);
    order = requireNonNullElse(order, Order.CIRCULAR);
    for (List<String> row : rows) {
      if (row.size() != columns.size()) {
        throw new SettingsException(
            "rows", "has %s: each has as many values as there are columns".formatted(row));
      }
    }
  }
}
