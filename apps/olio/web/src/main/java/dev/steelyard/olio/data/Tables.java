// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import dev.steelyard.bench.database.Database;
import dev.steelyard.bench.database.Dialect;
import dev.steelyard.bench.database.Script;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.sql.SQLException;
import java.util.List;

/** Makes the tables, by the scripts in {@code ddl/}. */
@ApplicationScoped
public class Tables {

  @Inject private Database database;

  /** The product as the driver names it. */
  public String product() {
    return database.run(connection -> connection.getMetaData().getDatabaseProductName());
  }

  /** Whether data was loaded, to its end. */
  public boolean exist() {
    return database.run(connection -> Script.exists(connection, "DATASET"));
  }

  /** Drops what there is and makes empty tables, without keys. */
  public void make() {
    Dialect dialect = database.dialect();
    for (String sql : statements("sequences")) {
      try {
        execute(sql);
      } catch (OlioDatabase.Failure e) {
        if (!(e.getCause() instanceof SQLException refused) || !dialect.saysAlreadyThere(refused)) {
          throw e;
        }
      }
    }
    statements("tables").forEach(this::execute);
  }

  /** Adds keys and indexes, and what the database is told besides. */
  public void addKeys() {
    statements("keys").forEach(this::execute);
    statements(database.dialect().script()).forEach(this::execute);
  }

  private void execute(String sql) {
    database.run(
        connection -> {
          Script.execute(connection, sql);
          return null;
        });
  }

  /** The statements of a script. */
  static List<String> statements(String name) {
    return Script.statements(Tables.class, name);
  }
}
