// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.stream.Stream;

/** The words of a database that others do not know: one row for each that applications run on. */
public enum Dialect {
  /** Apache Derby, embedded or as a server. */
  DERBY("Apache Derby", " FOR UPDATE WITH RS", " WITH UR", "X0Y68"),
  /** IBM Db2, whose product is named with its platform: DB2/LINUXX8664. */
  DB2("DB2", " FOR UPDATE WITH RS", " WITH UR", "42710"),
  /** Readers never wait for writers there: what is read without waiting needs no words. */
  POSTGRESQL("PostgreSQL", " FOR UPDATE", "", "42P07");

  private final String product;
  private final String locked;
  private final String unlocked;
  private final String alreadyThere;

  Dialect(String product, String locked, String unlocked, String alreadyThere) {
    this.product = product;
    this.locked = locked;
    this.unlocked = unlocked;
    this.alreadyThere = alreadyThere;
  }

  /**
   * That of the database behind a connection.
   *
   * @throws SQLException if the database does not answer, or is one that no row describes
   */
  public static Dialect of(Connection connection) throws SQLException {
    String name = connection.getMetaData().getDatabaseProductName();
    return Stream.of(values())
        .filter(each -> name.startsWith(each.product))
        .findFirst()
        .orElseThrow(() -> new SQLException("No dialect is known of the database " + name + "."));
  }

  /** The data source that a connection comes from, as it is named where it is chosen. */
  public static String dataSource(Connection connection) throws SQLException {
    Dialect dialect = of(connection);
    boolean server = dialect == DERBY && connection.getMetaData().getURL().contains("//");
    return dialect.script() + (server ? "-network" : "");
  }

  /** A query that keeps others from changing the rows that it reads, until the transaction ends. */
  public String locked(String query) {
    return query + locked;
  }

  /** A query that waits for no lock, and may read what is not committed. */
  public String unlocked(String query) {
    return query + unlocked;
  }

  /** Whether a statement failed because what it was to make is there. */
  public boolean saysAlreadyThere(SQLException refused) {
    return alreadyThere.equals(refused.getSQLState());
  }

  /** The name of a script with what this database is told besides: {@code ddl/NAME.sql}. */
  public String script() {
    return name().toLowerCase(Locale.ROOT);
  }
}
