// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.derbyserver.Main;
import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.EndlessLoad;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Processes;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server whose JVM is killed while orders of the 2-phase mode are under way, some of them in the
 * middle of a commit, others only in the queue: once it runs again, each order that a user was told
 * of, and each that was paid for, has been carried out, once. The database is a process of its own.
 */
@Tag("full")
final class KilledServerIT {

  private static final int USERS = 12;

  /** Users that never come, and whose orders nobody has shown. */
  private static final int STRANGERS = 8;

  /** Seconds after which the database undoes a transaction that is not prepared. */
  private static final int UNDONE_AFTER = 8;

  private static final int ORDERS = 120;
  private static final int WAITING = 6;
  private static final String OPEN = "SELECT COUNT(*) FROM ORDEREJB WHERE ORDERSTATUS = 'open'";

  private static Path folder;
  private static Process database;
  private static String url;
  private static PackagedServer server;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    folder = Files.createTempDirectory("daytrader7-killed");
    int port = Processes.freePort();
    url = "jdbc:derby://127.0.0.1:" + port + "/tradedb;user=trade;password=trade";
    database =
        Processes.program(
                List.of(
                    "-Xmx128m",
                    "-XX:TieredStopAtLevel=1",
                    "-Dderby.jdbc.xaTransactionTimeout=" + UNDONE_AFTER),
                Main.class,
                "--port",
                Integer.toString(port),
                "--folder",
                folder.resolve("data").toString())
            .redirectOutput(folder.resolve("derby.txt").toFile())
            .start();
    Waiting.await(
        "the database serves",
        () -> Files.readString(folder.resolve("derby.txt")).contains("derby-server ready"));
    Map<String, String> environment =
        Map.of(
            "JVM_ARGS",
            "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "TRADE_DATABASE",
            "derby-network",
            "TRADE_DB_PORT",
            Integer.toString(port),
            "TRADE_CONNECTIONS",
            "30",
            "TRADE_MAX_USERS",
            Integer.toString(USERS + STRANGERS),
            "TRADE_MAX_QUOTES",
            "100",
            "TRADE_LONG_RUN",
            "false");
    server =
        PackagedServer.of(
            "daytrader7", Path.of(System.getProperty("server.archive")), folder, environment);
    startServer();
  }

  private static void startServer() throws IOException, InterruptedException {
    server.start();
    server.awaitStatus("/daytrader/health/ready", 200);
  }

  @AfterAll
  static void end() throws IOException, InterruptedException {
    if (server != null) {
      server.close();
      server.process().onExit().join();
    }
    Processes.stop(database);
    Folders.delete(folder);
  }

  @Test
  void noOrderIsLostOrDoubledByBeans() throws Exception {
    survives(RunMode.EJB);
  }

  @Test
  void noOrderIsLostOrDoubledByJdbc() throws Exception {
    survives(RunMode.DIRECT);
  }

  /** Beans delete orders that were shown; what is left still tells of a loss. */
  @Test
  void longRunsAreConsistentWithoutTheirOrders() throws Exception {
    configure(RunMode.EJB, OrderMode.SYNC, "&EnableLongRun=on");
    EndlessLoad load = new EndlessLoad(USERS, KilledServerIT::trader);
    load.await(ORDERS);
    load.end();
    assertEquals("consistent\n", server.get("/daytrader/consistency").body());
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      assertTrue(load.count(connection, TradeServer.SETTLED) < ORDERS, "none was deleted");
      statement.execute(
          "DELETE FROM HOLDINGEJB WHERE HOLDINGID = (SELECT MAX(HOLDING_HOLDINGID) FROM ORDEREJB O"
              + " JOIN ACCOUNTEJB A ON A.ACCOUNTID = O.ACCOUNT_ACCOUNTID WHERE A.LOGINCOUNT = 0)");
    }
    assertEquals(
        "accounts whose purchases have lost holdings without a sale: 1\n",
        server.get("/daytrader/consistency").body());
  }

  /** Makes the data anew and sets modes. */
  private static void configure(RunMode mode, OrderMode order, String more)
      throws IOException, InterruptedException {
    for (String action :
        List.of(
            "buildDB",
            "updateConfig&DisplayOrderAlerts=on&RunTimeMode=%d&OrderProcessingMode=%d"
                    .formatted(mode.value(), order.value())
                + more)) {
      assertEquals(200, server.get("/daytrader/config?action=" + action).statusCode(), action);
    }
  }

  private static void survives(RunMode mode) throws Exception {
    configure(mode, OrderMode.ASYNC_2PHASE, "");
    EndlessLoad load = new EndlessLoad(USERS, KilledServerIT::trader);
    load.await(ORDERS);
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      // From now on no order can be completed, but orders can be made.
      statement.execute("LOCK TABLE HOLDINGEJB IN EXCLUSIVE MODE");
      Waiting.await("orders wait in the queue", () -> count(OPEN + " WITH UR") >= WAITING);
      Waiting.awaitEnd(server.process().destroyForcibly());
      connection.rollback();
    }
    load.awaitKilledServer();

    startServer();
    // The database keeps the locks of what the dead had begun for some seconds.
    Waiting.await(
        "the data is consistent again",
        () -> server.get("/daytrader/consistency").body().equals("consistent\n"));
    try (Connection connection = DriverManager.getConnection(url)) {
      load.assertAllThere(connection, TradeServer.SETTLED);
    }
  }

  /** A user who buys; every third sells as well. */
  private static EndlessLoad.Step trader(EndlessLoad load, int number)
      throws IOException, InterruptedException {
    TradeBrowser user = new TradeBrowser(server.uri("/daytrader/"));
    String login = "login&uid=uid:" + number + "&passwd=xxx";
    while (told(user, login, "Welcome to DayTrader").isEmpty()) {
      // Another time.
    }
    return () -> {
      order(load, user, "buy&quantity=3&symbol=s:" + (load.size() % 100));
      if (number % 3 == 0) {
        List<String> held = user.app("portfolio").all("holdingID=([0-9]+)");
        if (!held.isEmpty()) {
          order(load, user, "sell&holdingID=" + held.get(0));
        }
      }
    };
  }

  private static void order(EndlessLoad load, TradeBrowser user, String action)
      throws IOException, InterruptedException {
    told(user, action, TradeServer.SUBMITTED)
        .filter(answer -> !answer.body().contains(">cancelled<"))
        .ifPresent(answer -> load.acknowledge(TradeServer.order(answer)));
  }

  /**
   * What a user is told, which must be this; nothing where the machine was so slow that the
   * database has undone it.
   */
  private static Optional<Answer> told(TradeBrowser user, String action, String text)
      throws IOException, InterruptedException {
    long asked = System.nanoTime();
    Answer answer = user.app(action);
    boolean right = answer.status() == 200 && answer.body().contains(text);
    boolean slow = System.nanoTime() - asked > Duration.ofSeconds(UNDONE_AFTER).toNanos();
    return slow && !right ? Optional.empty() : Optional.of(answer.must(text));
  }

  private static int count(String sql) throws IOException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getInt(1);
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }
}
