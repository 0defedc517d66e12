// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The packaged server with an embedded database and a small data set. */
final class Deployed implements AutoCloseable {

  static final int USERS = 60;
  static final int QUOTES = 100;

  /** The answer to the request that populated the database. */
  final String populated;

  private final Path folder;
  private final PackagedServer server;

  Deployed() throws IOException, InterruptedException {
    folder = Files.createTempDirectory("daytrader7");
    server =
        PackagedServer.of(
            "daytrader7",
            Path.of(System.getProperty("server.archive")),
            folder,
            Map.of(
                "JVM_ARGS", "-Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
                "TRADE_CONNECTIONS", "20",
                "TRADE_PERCENT_SENT_TO_WEBSOCKET", "100",
                "TRADE_MAX_USERS", Integer.toString(USERS),
                "TRADE_MAX_QUOTES", Integer.toString(QUOTES)));
    server.start();
    server.awaitStatus("/daytrader/health/ready", 200);
    populated = server.get("/daytrader/config?action=buildDB").body();
  }

  PackagedServer server() {
    return server;
  }

  /** Sets the modes, and everything else as it is by default. */
  void modes(RunMode run, OrderMode order) throws IOException, InterruptedException {
    server.get(
        "/daytrader/config?action=updateConfig&RunTimeMode="
            + run.ordinal()
            + "&OrderProcessingMode="
            + order.ordinal()
            + "&EnablePublishQuotePriceChange=on&DisplayOrderAlerts=on&EnableLongRun=on");
  }

  @Override
  public void close() {
    server.close();
    Folders.delete(folder);
  }
}
