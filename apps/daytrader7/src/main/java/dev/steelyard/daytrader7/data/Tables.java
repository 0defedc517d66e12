// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.data;

import dev.steelyard.daytrader7.direct.Database;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Makes the tables, by the scripts in {@code ddl/}. */
@ApplicationScoped
public class Tables {

  private static final Pattern COMMENT = Pattern.compile("--[^\n]*");
  private static final List<String> KEYS = List.of("account", "holding", "order");

  @Inject private Database database;

  private volatile boolean seen;

  /** The product as the driver names it. */
  public String product() {
    return database.run(connection -> connection.getMetaData().getDatabaseProductName());
  }

  /** Whether they are there; once they were, they are. */
  public boolean exist() {
    if (!seen) {
      seen = found();
    }
    return seen;
  }

  private boolean found() {
    return database.run(
        connection -> {
          try (ResultSet found =
              connection
                  .getMetaData()
                  .getTables(null, connection.getSchema(), "DATASET", new String[] {"TABLE"})) {
            return found.next();
          }
        });
  }

  /**
   * Drops and makes them. The key counters go on where they were: the JVMs that use this database
   * have blocks of keys in hand.
   *
   * @return the statements that were run
   */
  public List<String> make() {
    List<Integer> counters = exist() ? counters() : List.of();
    List<String> statements = statements(product());
    database.run(
        connection -> {
          for (String sql : statements) {
            execute(connection, sql);
          }
          for (int i = 0; i < counters.size(); i++) {
            Database.update(
                connection,
                "UPDATE KEYGENEJB SET KEYVAL = ? WHERE KEYNAME = ?",
                counters.get(i),
                KEYS.get(i));
          }
          return null;
        });
    return statements;
  }

  private List<Integer> counters() {
    return database.run(
        connection -> {
          List<Integer> counters = new ArrayList<>();
          for (String key : KEYS) {
            counters.add(
                Database.one(
                    connection,
                    row -> row.getInt(1),
                    "SELECT KEYVAL FROM KEYGENEJB WHERE KEYNAME = ?",
                    key));
          }
          return counters;
        });
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      // There may be nothing to drop.
      if (!sql.startsWith("DROP ")) {
        throw e;
      }
    }
  }

  /** The statements for a product: those of all, and what Db2 is told besides. */
  static List<String> statements(String product) {
    List<String> scripts = product.startsWith("DB2") ? List.of("tables", "db2") : List.of("tables");
    return scripts.stream()
        .flatMap(name -> Arrays.stream(COMMENT.matcher(script(name)).replaceAll("").split(";")))
        .map(String::strip)
        .filter(each -> !each.isEmpty())
        .toList();
  }

  private static String script(String name) {
    try (InputStream in = Tables.class.getResourceAsStream("/ddl/" + name + ".sql")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
