// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.data;

import dev.steelyard.bench.database.Database;
import dev.steelyard.bench.database.Dialect;
import dev.steelyard.bench.database.Script;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Makes the tables, by the scripts in {@code ddl/}. */
@ApplicationScoped
public class Tables {

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
      seen = database.run(connection -> Script.exists(connection, "DATASET"));
    }
    return seen;
  }

  /**
   * Drops and makes them. The key counters go on where they were: the JVMs that use this database
   * have blocks of keys in hand.
   *
   * @return the statements that were run
   */
  public List<String> make() {
    List<Integer> counters = exist() ? counters() : List.of();
    List<String> statements = statements(database.dialect());
    database.run(
        connection -> {
          for (String sql : statements) {
            Script.execute(connection, sql);
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

  /** Tells the database that the tables were filled. */
  void filled() {
    String script = database.dialect().script() + "-filled";
    database.run(
        connection -> {
          for (String sql : Script.statements(Tables.class, script)) {
            Script.execute(connection, sql);
          }
          return null;
        });
  }

  /** The statements for a database: those of all, and what it alone is told. */
  static List<String> statements(Dialect dialect) {
    return Stream.of("tables", dialect.script())
        .flatMap(name -> Script.statements(Tables.class, name).stream())
        .toList();
  }
}
