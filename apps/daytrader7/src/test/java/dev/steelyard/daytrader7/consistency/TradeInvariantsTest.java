// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.consistency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.bench.database.Database;
import dev.steelyard.bench.database.Invariant;
import dev.steelyard.bench.database.Script;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On tables in memory: one account that bought twice, sold once, and got a cancelled sale. */
class TradeInvariantsTest {
  private static final List<String> SOUND =
      List.of(
          "UPDATE KEYGENEJB SET KEYVAL = 1000",
          "INSERT INTO QUOTEEJB VALUES ('s:0', 'S0 Incorporated', 13, 110, 100, 100, 100, 10)",
          "INSERT INTO ACCOUNTPROFILEEJB VALUES ('uid:0', 'xxx', 'n', 'a', 'e', 'c')",
          // 5 x 100 and 2 x 50 bought, 2 x 60 sold, three fees.
          "INSERT INTO ACCOUNTEJB VALUES (1, CURRENT_TIMESTAMP, 1000, 445.15, CURRENT_TIMESTAMP, 1,"
              + " 0, 'uid:0')",
          "INSERT INTO HOLDINGEJB VALUES (1, 5, 100, CURRENT_TIMESTAMP, 's:0', 1)",
          order(1, "'buy'", "'closed'", 5, 100, 1),
          // Beans leave the holding's number in the order that bought it.
          order(2, "'buy'", "'completed'", 2, 50, 2),
          order(3, "'sell'", "'closed'", 2, 60, null),
          "INSERT INTO ORDEREJB VALUES (4, 'sell', 'cancelled', CURRENT_TIMESTAMP,"
              + " CURRENT_TIMESTAMP, 0, 0, 0, NULL, NULL, NULL)");

  private Connection connection;

  private static String order(
      int id, String type, String status, int quantity, int price, Integer holding) {
    return "INSERT INTO ORDEREJB VALUES (%d, %s, %s, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, %d, %d, 24.95, 's:0', 1, %s)"
        .formatted(id, type, status, quantity, price, holding);
  }

  @BeforeAll
  static void keepLogs() {
    System.setProperty("derby.stream.error.file", "target/derby.log");
  }

  @BeforeEach
  void fill() throws SQLException {
    connection =
        DriverManager.getConnection("jdbc:derby:memory:" + UUID.randomUUID() + ";create=true");
    for (String sql : Script.statements(TradeInvariants.class, "tables")) {
      execute(sql);
    }
    for (String sql : SOUND) {
      execute(sql);
    }
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
  }

  private void execute(String sql) throws SQLException {
    Script.execute(connection, sql);
  }

  /** The names of those that do not hold. */
  private Set<String> broken() throws SQLException {
    return broken(true);
  }

  private Set<String> broken(boolean history) throws SQLException {
    Set<String> broken = new LinkedHashSet<>();
    List<Invariant> invariants = new ArrayList<>(TradeInvariants.ALWAYS);
    invariants.addAll(history ? TradeInvariants.OF_HISTORY : List.of());
    for (Invariant each : invariants) {
      long rows =
          Database.<Long>one(
              connection, row -> row.getLong(1), each.sql(), each.values().toArray());
      if (rows > 0) {
        broken.add(each.name());
      }
    }
    return broken;
  }

  @Test
  void soundDataBreaksNone() throws SQLException {
    assertEquals(Set.of(), broken());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "orders that are still open | UPDATE ORDEREJB SET ORDERSTATUS = 'open' WHERE ORDERID = 4",
        "accounts without a profile | INSERT INTO ACCOUNTEJB VALUES (2, NULL, 0, 0, NULL, 0, 0, 'no')",
        "profiles without one account | INSERT INTO ACCOUNTPROFILEEJB VALUES ('uid:1', '', '', '', '', '')",
        "holdings without an account or a stock | UPDATE HOLDINGEJB SET QUOTE_SYMBOL = NULL",
        "orders without an account or a stock | UPDATE ORDEREJB SET QUOTE_SYMBOL = 's:9' WHERE ORDERID = 3",
        "settled orders without a date of completion | UPDATE ORDEREJB SET COMPLETIONDATE = NULL WHERE ORDERID = 1",
        "holdings of more than one purchase | UPDATE ORDEREJB SET ORDERTYPE = 'buy', HOLDING_HOLDINGID = 1,"
            + " QUANTITY = 5, PRICE = 100 WHERE ORDERID = 4",
        "holdings that are not what was bought | UPDATE HOLDINGEJB SET PURCHASEPRICE = 99",
        "settled sales whose holding is there | UPDATE ORDEREJB SET HOLDING_HOLDINGID = 2 WHERE ORDERID = 3",
        "keys beyond their counter | UPDATE KEYGENEJB SET KEYVAL = 3 WHERE KEYNAME = 'order'",
        "'stocks without a price, or whose change is not from it' | UPDATE QUOTEEJB SET CHANGE1 = 9.99",
        "accounts whose balance is not what their orders come to | UPDATE ACCOUNTEJB SET BALANCE = 445.16",
        "accounts that do not hold what they bought and did not sell"
            + " | INSERT INTO HOLDINGEJB VALUES (3, 1, 1, CURRENT_TIMESTAMP, 's:0', 1)",
      })
  void eachIsBrokenByWhatItIsAbout(String name, String sql) throws SQLException {
    execute(sql);
    assertEquals(Set.of(name), broken());
  }

  /** Of the two orders that beans delete once they were shown, and of the rest. */
  @Test
  void withoutTheOrdersThatWereShownALostHoldingIsStillFound() throws SQLException {
    execute("DELETE FROM ORDEREJB WHERE ORDERID IN (2, 3)");
    assertEquals(Set.of(), broken(false));
    execute("DELETE FROM HOLDINGEJB");
    assertEquals(
        Set.of("accounts whose purchases have lost holdings without a sale"), broken(false));
  }

  @Test
  void aHoldingThatIsBeingSoldByNoOrderIsFound() throws SQLException {
    Database.update(connection, "UPDATE HOLDINGEJB SET PURCHASEDATE = ?", new Timestamp(0));
    assertEquals(Set.of("holdings that are being sold by no order"), broken());
  }
}
