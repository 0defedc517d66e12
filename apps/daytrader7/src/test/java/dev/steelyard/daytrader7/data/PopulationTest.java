// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.bench.database.Dialect;
import dev.steelyard.bench.database.Script;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PopulationTest {

  /** Those that scripts name; a key's has a name of Derby's. */
  private static final String INDEXES =
      "SELECT CONGLOMERATENAME FROM SYS.SYSCONGLOMERATES"
          + " WHERE ISINDEX AND NOT ISCONSTRAINT AND CONGLOMERATENAME NOT LIKE 'SYS%'";

  private static List<Population.User> users(Population population, int users) {
    return IntStream.range(0, users).mapToObj(population::user).toList();
  }

  @Test
  void aSeedMakesOneDataSetWhoseHashNeverChanges() {
    Population one = new Population(50, 1);
    Population same = new Population(50, 1);
    Population other = new Population(50, 2);
    assertEquals(users(one, 100), users(same, 100));
    users(other, 100);
    assertEquals(one.hash(), same.hash());
    assertNotEquals(one.hash(), other.hash());
    // Another hash is another data set: results with it are not comparable, and the workload's
    // version has to say so.
    assertEquals("de352307a3346c2c", one.hash());
  }

  @Test
  void figuresAreThoseOfTheWorkload() {
    Population population = new Population(500, 3);
    List<Population.User> users = users(population, 2000);
    assertEquals(new BigDecimal("1000000.00"), users.get(0).openBalance());
    for (Population.Stock stock : population.stocks()) {
      assertTrue(stock.price().compareTo(BigDecimal.ONE) >= 0, stock.toString());
      assertTrue(stock.price().compareTo(BigDecimal.valueOf(200)) <= 0, stock.toString());
    }
    for (Population.User user : users.subList(1, users.size())) {
      int open = user.openBalance().intValueExact();
      assertTrue(open >= 200_000 && open < 300_000, user.toString());
    }
    int holdings = users.stream().mapToInt(each -> each.purchases().size()).sum();
    assertEquals(5.0, holdings / 2000.0, 0.3);
  }

  @Test
  void aBalanceIsWhatThePurchasesLeft() {
    Population.Stock stock = new Population.Stock("s:0", "", new BigDecimal("10.00"));
    Population.User user =
        new Population.User(
            "uid:1",
            "",
            "",
            "",
            "",
            new BigDecimal("1000.00"),
            List.of(new Population.Purchase(stock, 10), new Population.Purchase(stock, 20)));
    assertEquals(new BigDecimal("650.10"), user.balance());
  }

  /** Db2 has the same tables, and is told more of them, which Derby cannot check. */
  @Test
  void theTablesAreMadeOnDerby() throws SQLException {
    List<String> all = Tables.statements(Dialect.DERBY);
    try (Connection connection = DriverManager.getConnection("jdbc:derby:memory:ddl;create=true");
        Statement statement = connection.createStatement()) {
      for (String sql : all) {
        if (!sql.startsWith("DROP ")) {
          statement.execute(sql);
        }
      }
      try (var count = statement.executeQuery("SELECT COUNT(*) FROM KEYGENEJB")) {
        count.next();
        assertEquals(3, count.getInt(1));
      }
    }
    List<String> db2 = Tables.statements(Dialect.DB2);
    assertEquals(all, db2.subList(0, all.size()));
    List<String> more = db2.subList(all.size(), db2.size());
    assertEquals(8, more.size());
    assertTrue(more.stream().allMatch(sql -> sql.startsWith("ALTER TABLE ")), more::toString);
  }

  /** Derby gathers none by itself here, and none of an index that is its table's key alone. */
  @Test
  void statisticsOfEachIndexAreGatheredOnDerby() throws SQLException {
    try (Connection connection =
            DriverManager.getConnection("jdbc:derby:memory:filled;create=true");
        Statement statement = connection.createStatement()) {
      for (String sql : Tables.statements(Dialect.DERBY)) {
        Script.execute(connection, sql);
      }
      statement.execute(
          "INSERT INTO ACCOUNTEJB (ACCOUNTID, LOGINCOUNT, LOGOUTCOUNT) VALUES (1, 0, 0)");
      statement.execute("INSERT INTO HOLDINGEJB (HOLDINGID, QUANTITY) VALUES (1, 1)");
      statement.execute("INSERT INTO ORDEREJB (ORDERID, QUANTITY) VALUES (1, 1)");
      List<String> indexes = named(statement, INDEXES);
      assertEquals(
          List.of("ACCOUNT_USERID", "CLOSED_ORDERS", "HOLDING_ACCOUNTID", "ORDER_HOLDINGID"),
          indexes);
      for (String sql : Script.statements(Tables.class, "derby-filled")) {
        Script.execute(connection, sql);
      }
      assertEquals(
          indexes,
          named(
              statement,
              INDEXES + " AND CONGLOMERATEID IN (SELECT REFERENCEID FROM SYS.SYSSTATISTICS)"));
    }
  }

  private static List<String> named(Statement statement, String indexes) throws SQLException {
    List<String> names = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery(indexes)) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    Collections.sort(names);
    return names;
  }
}
