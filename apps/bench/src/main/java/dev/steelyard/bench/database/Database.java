// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * Statements outside of Persistence, and the transactions around them: one that an application has
 * under way may be joined and is left to who began it; without one, each piece of work is committed
 * by itself.
 */
public abstract class Database {

  /** Some statements on one connection. */
  @FunctionalInterface
  public interface Work<T> {
    /** Does them. */
    T on(Connection connection) throws SQLException;
  }

  /** Makes a value of the current row. */
  @FunctionalInterface
  public interface RowMapper<T> {
    /** Reads the row. */
    T map(ResultSet row) throws SQLException;
  }

  private volatile Dialect dialect;

  /** Where connections come from. */
  protected abstract DataSource source();

  /** What an application throws where the database does not answer, or refuses a statement. */
  protected abstract RuntimeException failure(String message, SQLException cause);

  /** Whether work joins a transaction that is under way. */
  protected boolean joins() {
    return false;
  }

  /**
   * The words of the database, which is asked once. Nothing is committed for that: whoever asks may
   * be in a transaction of Persistence.
   */
  public Dialect dialect() {
    if (dialect == null) {
      dialect = connected(Dialect::of);
    }
    return dialect;
  }

  /**
   * Does the work: all of it, or none.
   *
   * @throws RuntimeException the application's own if the database refuses it
   */
  public <T> T run(Work<T> work) {
    return joins() ? connected(work) : connected(connection -> committed(connection, work));
  }

  private <T> T connected(Work<T> work) {
    try (Connection connection = source().getConnection()) {
      return work.on(connection);
    } catch (SQLException e) {
      throw failure("The database refused it: " + e.getMessage(), e);
    }
  }

  private static <T> T committed(Connection connection, Work<T> work) throws SQLException {
    connection.setAutoCommit(false);
    boolean done = false;
    try {
      T result = work.on(connection);
      connection.commit();
      done = true;
      return result;
    } finally {
      if (!done) {
        connection.rollback();
      }
    }
  }

  /** The number that a statement counts; 0 where it has no row. */
  public long count(String sql, Object... values) {
    Long rows = run(connection -> one(connection, row -> row.getLong(1), sql, values));
    return rows == null ? 0 : rows;
  }

  /** Changes rows and tells how many. */
  public static int update(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values)) {
      return statement.executeUpdate();
    }
  }

  /** All rows. */
  public static <T> List<T> list(
      Connection connection, RowMapper<T> mapper, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values);
        ResultSet rows = statement.executeQuery()) {
      List<T> list = new ArrayList<>();
      while (rows.next()) {
        list.add(mapper.map(rows));
      }
      return list;
    }
  }

  /** The first row, or null. */
  public static <T> T one(Connection connection, RowMapper<T> mapper, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values);
        ResultSet rows = statement.executeQuery()) {
      return rows.next() ? mapper.map(rows) : null;
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql, Object... values)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }
}
