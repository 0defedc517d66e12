// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Makes the tables, by the scripts in {@code ddl/}. */
@ApplicationScoped
public class Tables {

  private static final Pattern COMMENT = Pattern.compile("--[^\n]*");

  @Inject private Database database;

  /** The product as the driver names it. */
  public String product() {
    return database.run(connection -> connection.getMetaData().getDatabaseProductName());
  }

  /** Whether data was loaded, to its end. */
  public boolean exist() {
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

  /** Drops what there is and makes empty tables, without keys. */
  public void make() {
    statements("sequences").forEach(this::executeIfPossible);
    for (String sql : statements("tables")) {
      if (sql.startsWith("DROP ")) {
        executeIfPossible(sql);
      } else {
        execute(sql);
      }
    }
  }

  /** Adds keys and indexes, and what Db2 needs besides. */
  public void addKeys() {
    statements("keys").forEach(this::execute);
    if (product().startsWith("DB2")) {
      statements("db2").forEach(this::execute);
    }
  }

  private void execute(String sql) {
    database.run(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            return statement.execute(sql);
          }
        });
  }

  /** There may be nothing to drop, and a sequence may be there already. */
  private void executeIfPossible(String sql) {
    try {
      execute(sql);
    } catch (Database.Failure e) {
      String state = e.getCause() instanceof SQLException refused ? refused.getSQLState() : "";
      // Derby: 42Y55 and 42Y07 no such table or schema, X0Y68 already there; Db2: 42704, 42710.
      if (!List.of("42Y55", "42Y07", "X0Y68", "42704", "42710").contains(state)) {
        throw e;
      }
    }
  }

  /** The statements of a script. */
  static List<String> statements(String name) {
    try (InputStream in = Tables.class.getResourceAsStream("/ddl/" + name + ".sql")) {
      String script = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(COMMENT.matcher(script).replaceAll("").split(";", -1))
          .map(String::strip)
          .filter(each -> !each.isEmpty())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
