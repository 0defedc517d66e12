// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.data;

import dev.steelyard.bench.database.Database;
import dev.steelyard.bench.database.Dialect;
import dev.steelyard.daytrader7.TradeException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Optional;

/** What the database says of the data that it was populated with; the same to all its JVMs. */
@ApplicationScoped
public class DataSet {

  @Inject private Database database;
  @Inject private Tables tables;

  /** The hash of the data, or nothing while there is none. */
  public Optional<String> hash() {
    try {
      return tables.exist()
          ? Optional.ofNullable(
              database.run(
                  connection ->
                      Database.one(
                          connection, row -> row.getString(1), "SELECT HASH FROM DATASET")))
          : Optional.empty();
    } catch (TradeException unreachable) {
      return Optional.empty();
    }
  }

  /** The database's product and version. */
  public String product() {
    try {
      return database.run(
          connection ->
              connection.getMetaData().getDatabaseProductName()
                  + " "
                  + connection.getMetaData().getDatabaseProductVersion());
    } catch (TradeException unreachable) {
      return "unreachable";
    }
  }

  /** The data source that is in use: what was chosen, as the connection tells. */
  public String source() {
    try {
      return database.run(Dialect::dataSource);
    } catch (TradeException unreachable) {
      return "unreachable";
    }
  }
}
