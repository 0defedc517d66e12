// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.bench.database.Invariant;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The scripts on Derby; what Db2 is told besides can only be looked at. */
final class LoadTest {

  @Test
  void tablesKeysAndInvariantsAreThoseOfDerby() throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:derby:memory:ddl;create=true");
        Statement statement = connection.createStatement()) {
      for (String script : List.of("sequences", "tables", "keys")) {
        for (String sql : Tables.statements(script)) {
          if (!sql.startsWith("DROP ")) {
            statement.execute(sql);
          }
        }
      }
      for (Invariant invariant : OlioInvariants.ALL) {
        try (ResultSet rows = statement.executeQuery(invariant.sql())) {
          assertTrue(rows.next());
          assertEquals(0, rows.getInt(1), invariant.name());
        }
      }
      // Each of the original's indexes leads with its column.
      for (String column :
          List.of(
              "PERSON.USERNAME",
              "PERSON.ADDRESS_ADDRESSID",
              "SOCIALEVENT.EVENTTIMESTAMP",
              "SOCIALEVENT.CREATEDTIMESTAMP",
              "SOCIALEVENT.SUBMITTERUSERNAME",
              "SOCIALEVENT.ADDRESS_ADDRESSID",
              "COMMENTS_RATING.SOCIALEVENT_SOCIALEVENTID",
              "COMMENTS_RATING.USERNAME_USERNAME",
              "INVITATION.CANDIDATE_USERNAME",
              "INVITATION.REQUESTOR_USERNAME",
              "PERSON_PERSON.FRIENDS_USERID",
              "PERSON_SOCIALEVENT.USERNAME",
              "SOCIALEVENTTAG.TAG",
              "SOCIALEVENTTAG_SOCIALEVENT.SOCIALEVENTID")) {
        String[] parts = column.split("\\.", -1);
        assertTrue(indexed(connection, parts[0], parts[1]), column);
      }
    }
  }

  private static boolean indexed(Connection connection, String table, String column)
      throws SQLException {
    try (ResultSet rows =
        connection.getMetaData().getIndexInfo(null, connection.getSchema(), table, false, false)) {
      while (rows.next()) {
        if (rows.getInt("ORDINAL_POSITION") == 1 && column.equals(rows.getString("COLUMN_NAME"))) {
          return true;
        }
      }
      return false;
    }
  }

  @Test
  void db2GetsTheIndexesThatDerbyMakesItselfAndStatistics() {
    List<String> db2 = Tables.statements("db2");
    assertEquals(18, db2.size());
    assertEquals(9, db2.stream().filter(each -> each.startsWith("CREATE INDEX ")).count());
    assertEquals(9, db2.stream().filter(each -> each.contains("RUNSTATS ON TABLE ")).count());
  }
}
