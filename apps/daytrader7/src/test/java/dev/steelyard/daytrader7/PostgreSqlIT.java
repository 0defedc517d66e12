// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.EndlessLoad;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.PostgreSql;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * On PostgreSQL every page answers as on Derby, in both run-time modes; and a database that is
 * killed under load has, once it runs again, each order that a user was told of, once.
 */
@Tag("full")
final class PostgreSqlIT {

  private static final int USERS = 10;

  /** Orders before the kill, and after the database is back. */
  private static final int ORDERS = 150;

  private static Path folder;
  private static PostgreSql database;
  private static PackagedServer server;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    folder = Files.createTempDirectory("daytrader7-postgresql");
    String missing = PostgreSql.missing();
    assumeTrue(missing.isEmpty(), missing);
    database = PostgreSql.in(folder.resolve("database"));
    server = started("server");
    build();
  }

  private static PackagedServer started(String name) throws IOException, InterruptedException {
    Map<String, String> environment = new HashMap<>(database.environment("TRADE"));
    environment.put("JVM_ARGS", "-Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    environment.put("TRADE_CONNECTIONS", "30");
    environment.put("TRADE_MAX_USERS", String.valueOf(TradeServer.USERS));
    environment.put("TRADE_MAX_QUOTES", String.valueOf(TradeServer.QUOTES));
    Path archive = Path.of(System.getProperty("server.archive"));
    Path own = Files.createDirectory(folder.resolve(name));
    PackagedServer started = PackagedServer.of("daytrader7", archive, own, environment);
    try {
      started.start();
      started.awaitStatus("/daytrader/health/ready", 200);
      return started;
    } catch (IOException | InterruptedException | RuntimeException e) {
      started.close();
      throw e;
    }
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

  @ParameterizedTest
  @EnumSource(RunMode.class)
  void aServerHasTheSummaryOfStocksThatAnotherMade(RunMode mode) throws Exception {
    browser().get("config?action=buildDBTables").must("DayTrader tables successfully created!");
    PackagedServer other = started(mode.name());
    try {
      TradeServer.configure(other, mode, OrderMode.SYNC, false);
      assertFalse(summary(other).contains("gainer1_stock"), "there are no stocks yet");
      build();
      assertTrue(summary(other).contains("gainer1_stock"), "and at once there are");
    } finally {
      other.close();
      other.process().onExit().join();
    }
  }

  private static String summary(PackagedServer server) throws IOException, InterruptedException {
    try (SocketClient client = new SocketClient(server, "marketsummary")) {
      client.send(SocketClient.UPDATE);
      return client.next(text -> text.contains("tsia"));
    }
  }

  private static void survives(RunMode mode, OrderMode order) throws Exception {
    build();
    TradeServer.configure(server, mode, order, false);
    EndlessLoad load = new EndlessLoad(USERS, PostgreSqlIT::buyer);
    load.killAndRestart(database, ORDERS);
    Waiting.await(
        "the data is consistent",
        () -> server.get("/daytrader/consistency").body().equals("consistent\n"));
    try (Connection connection = database.connection()) {
      load.assertAllThere(connection, TradeServer.SETTLED);
    }
  }

  private static EndlessLoad.Step buyer(EndlessLoad load, int number)
      throws IOException, InterruptedException {
    TradeBrowser user = browser();
    user.app("login&uid=uid:" + number + "&passwd=xxx").must("Welcome to DayTrader");
    return () -> {
      Answer answer = user.app("buy&quantity=3&symbol=s:" + number);
      if (answer.status() == 200 && answer.body().contains(TradeServer.SUBMITTED)) {
        load.acknowledge(TradeServer.order(answer));
      } else {
        load.refuse(answer);
      }
    };
  }
}
