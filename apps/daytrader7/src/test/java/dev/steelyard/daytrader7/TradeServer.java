// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.OncePerRun;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.StatementLog;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** The packaged server on Derby, populated, with every statement in a log. */
public final class TradeServer implements AutoCloseable {

  /** How many users it is populated with. */
  public static final int USERS = 200;

  /** How many stocks. */
  public static final int QUOTES = 400;

  /** What a page of an order says. */
  static final String SUBMITTED = "has been submitted";

  /** Keys of the orders that were carried out. */
  static final String SETTLED =
      "SELECT ORDERID FROM ORDEREJB WHERE ORDERSTATUS IN ('closed', 'completed')";

  /** Blocks of keys, the timer's summary, and questions about tables. */
  private static final Pattern NOBODYS =
      Pattern.compile("KEYGENEJB|ORDER BY CHANGE1 DESC|SYS\\.|DATASET");

  /** Gives tests the one that all of them share. */
  public static final class Shared extends OncePerRun<TradeServer> {
    public Shared() {
      super(TradeServer.class, TradeServer::started);
    }
  }

  private final Path folder;
  private final PackagedServer server;
  private final StatementLog statements;

  private TradeServer(Path folder, PackagedServer server, StatementLog statements) {
    this.folder = folder;
    this.server = server;
    this.statements = statements;
  }

  private static TradeServer started() throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("daytrader7");
    Path log = folder.resolve("derby.log");
    Map<String, String> environment =
        Map.of(
            "JVM_ARGS",
            "-Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
                + " -Dderby.language.logStatementText=true -Dderby.stream.error.file="
                + log,
            "TRADE_CONNECTIONS",
            "10",
            "TRADE_MAX_USERS",
            String.valueOf(USERS),
            "TRADE_MAX_QUOTES",
            String.valueOf(QUOTES));
    Path archive = Path.of(System.getProperty("server.archive"));
    PackagedServer server = PackagedServer.of("daytrader7", archive, folder, environment);
    try {
      server.start();
      server.awaitStatus("/daytrader/health/ready", 200);
      TradeServer trade = new TradeServer(folder, server, new StatementLog(log, NOBODYS));
      trade.browser().get("config?action=buildDB").must("DayTrader Database Built - 200users");
      return trade;
    } catch (IOException | InterruptedException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** The server itself. */
  public PackagedServer packaged() {
    return server;
  }

  /** A client with cookies of its own. */
  public TradeBrowser browser() {
    return new TradeBrowser(server.uri("/daytrader/"));
  }

  /** The statements that it has sent to its database. */
  public StatementLog statements() {
    return statements;
  }

  /** Sets modes; alerts, long runs and publication stay on. */
  public void configure(RunMode run, OrderMode order) throws IOException, InterruptedException {
    configure(server, run, order, true);
  }

  /** Sets modes of any server, and whether beans delete orders that were shown. */
  static void configure(PackagedServer server, RunMode run, OrderMode order, boolean longRun)
      throws IOException, InterruptedException {
    new TradeBrowser(server.uri("/daytrader/"))
        .get(
            "config?action=updateConfig&RunTimeMode=%d&OrderProcessingMode=%d&DisplayOrderAlerts=on&EnablePublishQuotePriceChange=on%s"
                .formatted(run.value(), order.value(), longRun ? "&EnableLongRun=on" : ""))
        .must("DayTrader Configuration Updated");
  }

  /** The key of the order that a page tells of. */
  static String order(Answer answer) {
    return answer.all("Order ([0-9]+) details").get(0);
  }

  /** Messages of a kind that were received. */
  public int received(String kind) throws IOException, InterruptedException {
    JsonObject messages = json("/daytrader/bench/counters").getJsonObject("messages");
    return messages.getJsonObject(kind).getInt("messages");
  }

  /** What it tells of itself. */
  public JsonObject json(String path) throws IOException, InterruptedException {
    try (JsonReader reader = Json.createReader(new StringReader(server.get(path).body()))) {
      return reader.readObject();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    server.process().onExit().join();
    Folders.delete(folder);
  }
}
