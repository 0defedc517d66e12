// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import dev.steelyard.bench.database.Database;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The application's database. */
@ApplicationScoped
public class OlioDatabase extends Database {

  /** The database does not answer, or refuses a statement. */
  public static final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Failure(String message, SQLException cause) {
      super(message, cause);
    }
  }

  @Resource(lookup = "java:comp/env/jdbc/OlioDataSource")
  private DataSource source;

  @Override
  protected DataSource source() {
    return source;
  }

  @Override
  protected RuntimeException failure(String message, SQLException cause) {
    return new Failure(message, cause);
  }
}
