// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import dev.steelyard.bench.database.Database;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The rows of one table.
 *
 * @param table its name
 * @param columns how many it has
 * @param numbers rows are made for each number from 1 to this one
 * @param rows of a number
 * @param keyed whether the rows are to be given their keys, from 1 on, as a first column
 */
record TableLoad(
    String table, int columns, int numbers, IntFunction<List<Object[]>> rows, boolean keyed) {

  private static final int ROWS_AT_ONCE = 500;
  private static final int ROWS_IN_A_TRANSACTION = 20_000;

  /** A table with one row for each number. */
  static TableLoad oneEach(String table, int columns, int numbers, IntFunction<Object[]> row) {
    return new TableLoad(
        table, columns, numbers, number -> Collections.singletonList(row.apply(number)), false);
  }

  /** What a table was filled with. */
  record Filled(int rows, String hash) {}

  /** Fills the table. */
  Filled run(Database database) {
    Filler filler = new Filler();
    while (filler.number <= numbers) {
      database.run(
          connection -> {
            try (PreparedStatement insert = connection.prepareStatement(sql())) {
              filler.some(insert);
            }
            return null;
          });
    }
    return new Filled(filler.count, HexFormat.of().formatHex(filler.digest.digest()));
  }

  private String sql() {
    return "INSERT INTO "
        + table
        + " VALUES ("
        + String.join(", ", Collections.nCopies(columns, "?"))
        + ")";
  }

  /** The state between two transactions. */
  private final class Filler {

    private final MessageDigest digest = sha256();
    private int number = 1;
    private int count;

    void some(PreparedStatement insert) throws SQLException {
      int until = count + ROWS_IN_A_TRANSACTION;
      int open = 0;
      for (; number <= numbers && count < until; number++) {
        for (Object[] row : rows.apply(number)) {
          add(insert, row);
          if (++open == ROWS_AT_ONCE) {
            insert.executeBatch();
            open = 0;
          }
        }
      }
      if (open > 0) {
        insert.executeBatch();
      }
    }

    private void add(PreparedStatement insert, Object... row) throws SQLException {
      count++;
      int column = 1;
      if (keyed) {
        insert.setInt(column++, count);
      }
      StringBuilder text = new StringBuilder();
      for (Object value : row) {
        insert.setObject(column++, value);
        text.append(value).append('\n');
      }
      insert.addBatch();
      digest.update(text.toString().getBytes(StandardCharsets.UTF_8));
    }
  }

  /** A digest that every JVM has. */
  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
