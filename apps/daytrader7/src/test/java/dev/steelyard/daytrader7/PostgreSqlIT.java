// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.PostgreSql;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * On PostgreSQL every page answers as on Derby, in both run-time modes; and a database that is
 * killed under load has, once it runs again, each order that a user was told of, once.
 */
@Tag("full")
final class PostgreSqlIT {

  private static final int USERS = 10;

  /** Orders before the kill, and after the database is back. */
  private static final int ORDERS = 150;

  private static final String SUBMITTED = "has been submitted";

  private static Path folder;
  private static PostgreSql database;
  private static PackagedServer server;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    folder = Files.createTempDirectory("daytrader7-postgresql");
    String missing = PostgreSql.missing();
    assumeTrue(missing.isEmpty(), missing);
    database = PostgreSql.in(folder.resolve("database"));
    Map<String, String> environment = new HashMap<>(database.environment("TRADE"));
    environment.put("JVM_ARGS", "-Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    environment.put("TRADE_CONNECTIONS", "30");
    environment.put("TRADE_MAX_USERS", String.valueOf(TradeServer.USERS));
    environment.put("TRADE_MAX_QUOTES", String.valueOf(TradeServer.QUOTES));
    Path archive = Path.of(System.getProperty("server.archive"));
    server = PackagedServer.of("daytrader7", archive, folder, environment);
    server.start();
    server.awaitStatus("/daytrader/health/ready", 200);
    build();
  }

  @AfterAll
  static void end() throws IOException, InterruptedException {
    if (server != null) {
      server.close();
      server.process().onExit().join();
    }
    if (database != null) {
      database.stop();
    }
    Folders.delete(folder);
  }

  private static TradeBrowser browser() {
    return new TradeBrowser(server.uri("/daytrader/"));
  }

  private static void build() throws IOException, InterruptedException {
    browser().get("config?action=buildDB").must("DayTrader Database Built - 200users");
  }

  @TestFactory
  Stream<DynamicNode> pages() {
    return ContractIT.pages(server, RunMode.EJB, OrderMode.SYNC);
  }

  @TestFactory
  Stream<DynamicNode> pagesByJdbcInTwoPhases() {
    return ContractIT.pages(server, RunMode.DIRECT, OrderMode.ASYNC_2PHASE);
  }

  @Test
  void aDatabaseThatIsKilledHasLostNoOrderOfBeans() throws Exception {
    survives(RunMode.EJB, OrderMode.SYNC);
  }

  @Test
  void aDatabaseThatIsKilledHasLostNoOrderOfJdbc() throws Exception {
    survives(RunMode.DIRECT, OrderMode.SYNC);
  }

  @Test
  void tablesAreMadeAgainWhereTheyWere() throws Exception {
    browser().get("config?action=buildDBTables").must("DayTrader tables successfully created!");
    build();
    assertEquals("consistent\n", server.get("/daytrader/consistency").body());
    assertTrue(server.get("/daytrader/bench/info").body().contains("PostgreSQL"));
  }

  private static void survives(RunMode mode, OrderMode order) throws Exception {
    build();
    TradeServer.configure(server, mode, order, false);
    Load load = new Load();
    Waiting.await("orders", () -> load.told.size() >= ORDERS);
    database.kill();
    int before = load.told.size();
    Waiting.await("the load meets the dead database", () -> !load.refused.isEmpty());
    database.start();
    Waiting.await("orders once more", () -> load.told.size() >= before + ORDERS);
    load.end();
    assertEquals(List.of(), List.copyOf(load.wrong), "answers that are neither right nor errors");
    Waiting.await(
        "the data is consistent",
        () -> server.get("/daytrader/consistency").body().equals("consistent\n"));
    Set<Integer> lost = new HashSet<>(load.told);
    assertEquals(load.told.size(), lost.size(), "a number was given twice");
    lost.removeAll(settled());
    assertEquals(Set.of(), lost, "orders that users were told of");
  }

  /** Users who buy without end, whatever they are answered. */
  private static final class Load {
    final ConcurrentLinkedQueue<Integer> told = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<Integer> refused = new ConcurrentLinkedQueue<>();
    private final List<Future<Void>> sessions = new ArrayList<>();
    private volatile boolean ended;

    Load() {
      ExecutorService users = Executors.newFixedThreadPool(USERS);
      for (int user = 0; user < USERS; user++) {
        int number = user;
        sessions.add(users.submit(() -> trade(number)));
      }
      users.shutdown();
    }

    void end() throws Exception {
      ended = true;
      for (Future<Void> session : sessions) {
        session.get();
      }
    }

    private Void trade(int number) throws IOException, InterruptedException {
      TradeBrowser user = browser();
      user.app("login&uid=uid:" + number + "&passwd=xxx").must("Welcome to DayTrader");
      while (!ended) {
        Answer answer = user.app("buy&quantity=3&symbol=s:" + number);
        if (answer.status() == 200 && answer.body().contains(SUBMITTED)) {
          told.add(Integer.valueOf(answer.all("Order ([0-9]+) details").get(0)));
        } else if (answer.status() >= 500) {
          refused.add(answer.status());
        } else {
          wrong.add(answer.status() + ": " + answer.body());
        }
      }
      return null;
    }
  }

  /** Orders that were carried out; beans delete those that were shown, unless told otherwise. */
  private static Set<Integer> settled() throws SQLException {
    Set<Integer> found = new HashSet<>();
    try (Connection connection = database.connection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT ORDERID FROM ORDEREJB WHERE ORDERSTATUS IN ('closed', 'completed')")) {
      while (rows.next()) {
        found.add(rows.getInt(1));
      }
    }
    return found;
  }
}
