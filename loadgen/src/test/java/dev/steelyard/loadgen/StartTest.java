// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import dev.steelyard.testkit.Processes;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How load begins: at a word, or as soon as servers answer. */
class StartTest {
  private static final int SIGTERM_EXIT = 143;

  /** Milliseconds by which the clocks of an injector and of its test may differ. */
  private static final long CLOCKS = 100;

  private static final String TWO_PAGES =
      """
      {"visits": {
        "often": {"weight": 1000000, "steps": [{"operation": "a", "path": "/ping/a"}]},
        "rare": {"weight": 1, "steps": [{"operation": "b", "path": "/ping/b"},
                                        {"operation": "c", "path": "/ping/c"}]},
        "never": {"weight": 0, "steps": [{"operation": "d", "path": "/ping/d"}]}}}
      """;

  @TempDir Path folder;

  private static Injector waiting(ObjectNode settings) throws Exception {
    Injector injector = Injector.start(settings.put("awaitStart", true));
    injector.until("the injector was ready", () -> Files.exists(injector.ready()));
    return injector;
  }

  private static ObjectNode open(ObjectNode settings) {
    settings.put("model", "open").put("rate", 300).remove("users");
    return settings;
  }

  @Test
  void loadWaitsForTheStartFileInEveryModel() throws Exception {
    try (PingServer one = new PingServer(PingServer.PONG);
        PingServer other = new PingServer(PingServer.PONG)) {
      Injector closed = waiting(Injector.settings(folder.resolve("closed"), List.of(one.url())));
      Injector open =
          waiting(open(Injector.settings(folder.resolve("open"), List.of(other.url()))));
      // The first has been ready for as long as the second took to start.
      assertEquals(0, one.served(), "load before the start");
      startAndStop(closed, one);
      startAndStop(open, other);
    }
  }

  private static void startAndStop(Injector injector, PingServer server) throws Exception {
    assertEquals(0, server.served(), "load before the start");
    long start = injector.now();
    injector.createStartFile();
    injector.stopOnce("load came", () -> server.served() > 100);
    assertEquals(server.served(), injector.requests());
    assertEquals(0, injector.errors());
    JsonNode times = injector.summary().get("times");
    long first = times.get("firstRequestEpochMillis").asLong();
    assertTrue(first >= start - CLOCKS, "the clock began before the start");
    JsonNode interval = injector.health().get(0);
    double begun = interval.get("epochMillis").asLong() - 1e3 * interval.get("seconds").asDouble();
    assertTrue(begun >= start - CLOCKS, "an interval of the time before is written");
    double answered = injector.summary().at("/firstAnswers/ping").asDouble();
    long last = times.get("lastRequestEpochMillis").asLong();
    assertTrue(answered > first && answered <= last + 1, "first answer " + answered);
  }

  @Test
  void startFileMayTellTheTime() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      Injector injector = waiting(Injector.settings(folder, List.of(server.url())));
      long at = injector.now() + 1500;
      injector.createStartFile(Long.toString(at));
      injector.stopOnce("load came", () -> server.served() > 0);
      long first = injector.summary().at("/times/firstRequestEpochMillis").asLong();
      assertTrue(first >= at - 1, "before its time");
      assertEquals(server.served(), injector.requests());
    }
  }

  @Test
  void startFileThatTellsNoTimeIsRefusedInOneSentence() throws Exception {
    Injector injector = waiting(Injector.settings(folder, List.of("http://127.0.0.1:9")));
    injector.createStartFile("soon");
    assertEquals(1, injector.await(), injector::console);
    String sentence = "start holds \"soon\": give milliseconds since 1970, or an empty file.";
    assertTrue(injector.console().contains(sentence), injector::console);
  }

  @Test
  void stopFileEndsAnInjectorThatWaits() throws Exception {
    Injector injector = waiting(Injector.settings(folder, List.of("http://127.0.0.1:9")));
    injector.createStopFile();
    assertEquals(0, injector.await(), injector::console);
    assertEquals("stop file", injector.summary().get("endedBy").asText());
    assertEquals(0, injector.requests());
    assertEquals("{}", injector.summary().get("firstAnswers").toString());
  }

  @Test
  void signalEndsAnInjectorThatWaits() throws Exception {
    Injector injector = waiting(open(Injector.settings(folder, List.of("http://127.0.0.1:9"))));
    injector.terminate();
    assertEquals(SIGTERM_EXIT, injector.await(), injector::console);
    assertEquals("signal", injector.summary().get("endedBy").asText());
  }

  /** Refused, then answered with errors, then right: only the last counts. */
  @Test
  void probeWaitsForServersThatStartAndEndsWhenAllWasAnswered() throws Exception {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Processes.freePort());
    ObjectNode settings =
        Injector.settings(folder, List.of("http://127.0.0.1:" + address.getPort()));
    settings.put("model", "probe").remove("users");
    settings.set("journey", Injector.json(TWO_PAGES));
    Injector injector = waiting(settings);
    assertTrue(injector.console().contains("practised with 600 operations"), injector::console);
    injector.createStartFile();
    // Some seconds' lines: by then it has tried, however slow the machine is.
    injector.until("load came", () -> injector.healthText().lines().count() > 6);
    AtomicInteger asked = new AtomicInteger();
    HttpServer server = PingServer.newServer(address, Runnable::run);
    server.createContext(
        "/ping",
        exchange ->
            PingServer.answer(exchange, asked.incrementAndGet() % 4 == 0 ? 200 : 503, "pong\n"));
    long before = injector.now();
    server.start();
    try {
      assertEquals(0, injector.await(), injector::console);
    } finally {
      server.stop(0);
    }
    JsonNode summary = injector.summary();
    assertEquals("all answered", summary.get("endedBy").asText());
    assertEquals(12, asked.get(), "each of the three operations came until it was answered");
    assertTrue(summary.get("refused").asInt() > 9, summary.toString());
    double last = before - CLOCKS;
    for (String operation : List.of("a", "b", "c")) {
      assertEquals(1, summary.at("/operations/" + operation + "/requests").asInt(), operation);
      assertEquals(0, summary.at("/operations/" + operation + "/errors").asInt(), operation);
      double answered = summary.at("/firstAnswers/" + operation).asDouble();
      assertTrue(answered > last && answered < injector.now() + CLOCKS, operation);
      last = answered;
    }
    assertTrue(summary.at("/firstAnswers/d").isMissingNode());
    assertTrue(summary.get("errorMessages").toString().contains("503"), summary.toString());
  }
}
