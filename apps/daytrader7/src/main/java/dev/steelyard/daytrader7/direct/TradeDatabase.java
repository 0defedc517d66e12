// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import dev.steelyard.bench.database.Dialect;
import dev.steelyard.daytrader7.TradeException;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * Statements, and the transactions around them: one that is under way is joined and left to who
 * began it; without one, each piece of work is committed by itself.
 */
@ApplicationScoped
public class Database {

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

  @Resource(lookup = "java:comp/env/jdbc/TradeDataSource")
  private DataSource source;

  @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
  private TransactionSynchronizationRegistry transactions;

  private volatile Dialect dialect;

  /** The words of the database, which is asked once. */
  public Dialect dialect() {
    if (dialect == null) {
      dialect = run(Dialect::of);
    }
    return dialect;
  }

  /**
   * Does the work: all of it, or none.
   *
   * @throws TradeException if the database refuses it
   */
  public <T> T run(Work<T> work) {
    boolean joined = transactions.getTransactionStatus() != Status.STATUS_NO_TRANSACTION;
    try (Connection connection = source.getConnection()) {
      return joined ? work.on(connection) : committed(connection, work);
    } catch (SQLException e) {
      throw new TradeException("The database refused it: " + e.getMessage(), e);
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
