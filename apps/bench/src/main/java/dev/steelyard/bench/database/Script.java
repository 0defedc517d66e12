// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Scripts of SQL in an application's {@code ddl/}, and their statements. */
public final class Script {

  private static final Pattern COMMENT = Pattern.compile("--[^\n]*");
  private static final String DROP_TABLE = "DROP TABLE ";

  private Script() {}

  /**
   * The statements of {@code /ddl/NAME.sql}, none where there is no such script.
   *
   * @param application a class of the application that has it
   */
  public static List<String> statements(Class<?> application, String name) {
    try (InputStream in = application.getResourceAsStream("/ddl/" + name + ".sql")) {
      String text = in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(COMMENT.matcher(text).replaceAll("").split(";", -1))
          .map(String::strip)
          .filter(each -> !each.isEmpty())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs a statement, but for one that drops a table which is not there: on some databases a
   * statement that fails takes its transaction with it.
   */
  public static void execute(Connection connection, String sql) throws SQLException {
    if (sql.startsWith(DROP_TABLE) && !exists(connection, sql.substring(DROP_TABLE.length()))) {
      return;
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Whether there is a table in the connection's schema; its name in capitals. */
  public static boolean exists(Connection connection, String table) throws SQLException {
    DatabaseMetaData data = connection.getMetaData();
    String stored = data.storesLowerCaseIdentifiers() ? table.toLowerCase(Locale.ROOT) : table;
    try (ResultSet tables =
        data.getTables(null, connection.getSchema(), stored, new String[] {"TABLE"})) {
      return tables.next();
    }
  }
}
