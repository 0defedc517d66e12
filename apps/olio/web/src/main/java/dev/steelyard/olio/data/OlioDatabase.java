// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import dev.steelyard.bench.database.Dialect;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

/** Statements outside of Persistence, each piece of work committed by itself. */
@ApplicationScoped
public class Database {

  /** Some statements on one connection. */
  @FunctionalInterface
  public interface Work<T> {
    /** Does them. */
    T on(Connection connection) throws SQLException;
  }

  /** The database does not answer, or refuses a statement. */
  public static final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Failure(SQLException cause) {
      super("The database refused it: " + cause.getMessage(), cause);
    }
  }

  @Resource(lookup = "java:comp/env/jdbc/OlioDataSource")
  private DataSource source;

  private volatile Dialect dialect;

  /**
   * The words of the database, which is asked once. Nothing is committed for that: whoever asks may
   * be in a transaction of Persistence.
   */
  public Dialect dialect() {
    if (dialect == null) {
      try (Connection connection = source.getConnection()) {
        dialect = Dialect.of(connection);
      } catch (SQLException e) {
        throw new Failure(e);
      }
    }
    return dialect;
  }

  /** Does the work: all of it, or none. */
  public <T> T run(Work<T> work) {
    try (Connection connection = source.getConnection()) {
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
    } catch (SQLException e) {
      throw new Failure(e);
    }
  }

  /** The first column of the first row, or nothing. */
  public Optional<Object> value(String sql, Object... values) {
    return run(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
              statement.setObject(i + 1, values[i]);
            }
            try (ResultSet rows = statement.executeQuery()) {
              return rows.next() ? Optional.ofNullable(rows.getObject(1)) : Optional.empty();
            }
          }
        });
  }

  /** The number that a statement counts. */
  public long count(String sql, Object... values) {
    return value(sql, values).map(each -> ((Number) each).longValue()).orElse(0L);
  }
}
