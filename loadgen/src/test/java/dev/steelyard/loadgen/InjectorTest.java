// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.testkit.Processes;
import io.gatling.commons.util.LatestGatlingRelease;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of real injectors against real servers. */
class InjectorTest {
  private static final int SIGTERM_EXIT = 143;

  /** How long an injector that is told to end waits for requests in flight. */
  private static final long SIGNAL_GRACE = TimeUnit.SECONDS.toNanos(5);

  @TempDir Path folder;

  /** What every run must fulfil: all files tell the same counts, and nothing was given up. */
  private static void assertConsistent(Injector injector) throws Exception {
    assertFilesAgree(injector);
    assertEquals(0, injector.summary().get("abandonedRequests").asLong());
  }

  private static void assertFilesAgree(Injector injector) throws Exception {
    Map<String, Histogram> totals = Injector.totals(injector.latencies());
    long errors = Injector.count(totals, "ping:error");
    assertEquals(injector.requests(), Injector.count(totals, "ping") + errors);
    assertEquals(injector.errors(), errors);
    assertEquals(injector.requests(), injector.healthSum("requests"));
    assertEquals(injector.errors(), injector.healthSum("errors"));
    assertEquals("{}", injector.summary().get("outcomes").toString());
    assertEquals("{}", injector.health().get(0).get("outcomes").toString());
  }

  @Test
  void spreadsClosedUsersEvenlyAndCountsExactly() throws Exception {
    try (PingServer a = new PingServer(PingServer.PONG);
        PingServer b = new PingServer(PingServer.PONG);
        PingServer c = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(a.url(), b.url(), c.url()));
      settings.put("rampSeconds", 2).put("thinkTimeMillis", 20).put("measureSeconds", 5);
      Injector injector = Injector.start(settings);
      assertEquals(0, injector.await(), injector::console);
      assertConsistent(injector);
      assertEquals(0, injector.errors());
      long served = a.served() + b.served() + c.served();
      assertEquals(served, injector.requests());
      for (PingServer server : List.of(a, b, c)) {
        assertEquals(2, server.connections(), "two users, each with a connection of its own");
      }
      JsonNode summary = injector.summary();
      assertEquals("time", summary.get("endedBy").asText());
      assertEquals(100.0, summary.at("/achieved/mixPercent/ping").asDouble());
      JsonNode times = summary.get("times");
      long ramp =
          times.get("rampEndEpochMillis").asLong() - times.get("firstRequestEpochMillis").asLong();
      // It runs from the beginning; where the machine stalled, the first request came after that.
      assertTrue(ramp > 0 && ramp <= 2001, "the ramp took " + ramp + " ms");
      long peak =
          injector.health().stream().mapToLong(l -> l.get("activeUsers").asLong()).max().orElse(0);
      assertEquals(6, peak);
      assertTrue(injector.console().contains("\"thinkTimeMillis\" : 20"), "settings are printed");
    }
  }

  @Test
  void runsFromTheEnvironmentIntoAFolderOfItsOwnAndPrintsASummary() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("output", folder.resolve("run-{time}").toString());
      Injector injector = Injector.startFromEnvironment(folder, settings.toString());
      assertEquals(0, injector.await(), injector::console);
      List<Path> runs;
      try (Stream<Path> files = Files.list(folder)) {
        runs = files.toList();
      }
      assertEquals(1, runs.size(), runs.toString());
      assertTrue(
          runs.get(0).getFileName().toString().matches("run-\\d{8}T\\d{6}Z"), runs.toString());
      String console = injector.console();
      assertTrue(console.contains("closed users on 1 server, ended by time"), console);
      assertTrue(console.contains("  ping " + " ".repeat(12)), console);
      assertTrue(console.contains(String.format(Locale.ROOT, "%,d", server.served())), console);
      assertTrue(console.contains("files: " + runs.get(0)), console);
    }
  }

  /** Gatling would look for its newest release and note the answer in the user's home. */
  @Test
  void asksNobodyElseAndLeavesNothingElse() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG);
        ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Path home = Files.createDirectory(folder.resolve("home"));
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      String text = settings.put("measureSeconds", 600).toString();
      Injector injector =
          Injector.startFromEnvironment(folder.resolve("out"), text, outside(proxy, home));
      Processes.await("load came", () -> server.served() > 500);
      injector.createStopFile();
      assertEquals(0, injector.await(), injector::console);
      assertEquals(List.of(), tunnels(proxy), "connections to the outside");
      try (Stream<Path> left = Files.list(home)) {
        assertEquals(List.of(), left.toList());
      }
    }
  }

  /** A start that comes to Gatling's look for a newer release late, as on a busy machine. */
  static final class SlowStart {
    public static void main(String[] arguments) throws Exception {
      MemoryPreferencesFactory.install();
      Thread.sleep(5_000);
      LatestGatlingRelease.load();
    }
  }

  @Test
  void asksNobodyElseOnASlowStartEither() throws Exception {
    try (ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Injector injector = Injector.launch(folder, SlowStart.class, outside(proxy, folder));
      assertEquals(0, injector.await(), injector::console);
      assertEquals(List.of(), tunnels(proxy), "connections to the outside");
    }
  }

  /** Options of a JVM that reaches the outside by a proxy, and whose user lives in a folder. */
  private static List<String> outside(ServerSocket proxy, Path home) {
    return List.of(
        "-Duser.home=" + home,
        "-Dhttps.proxyHost=127.0.0.1",
        "-Dhttps.proxyPort=" + proxy.getLocalPort());
  }

  /**
   * What a proxy was asked for. Somebody else may have tried its port for a server of their own.
   */
  private static List<String> tunnels(ServerSocket proxy) throws IOException {
    List<String> asked = new ArrayList<>();
    proxy.setSoTimeout(1);
    while (true) {
      try (Socket caller = proxy.accept()) {
        asked.add(opening(caller));
      } catch (SocketTimeoutException nobodyMore) {
        return asked.stream().filter("CONNECT "::equals).toList();
      }
    }
  }

  private static String opening(Socket caller) throws IOException {
    caller.setSoTimeout(100);
    try {
      return new String(caller.getInputStream().readNBytes(8), StandardCharsets.US_ASCII);
    } catch (SocketTimeoutException saidNothing) {
      return "";
    }
  }

  @Test
  void stopFileEndsRunAndLosesNothing() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      Injector injector = Injector.start(settings.put("measureSeconds", 600));
      Processes.await("load came", () -> server.served() > 500);
      injector.createStopFile();
      assertEquals(0, injector.await(), injector::console);
      assertConsistent(injector);
      assertEquals(server.served(), injector.requests());
      assertEquals(0, injector.errors());
      assertEquals("stop file", injector.summary().get("endedBy").asText());
    }
  }

  @Test
  void stopFileEndsOpenRunAndWaitingUsers() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "open").put("rate", 50).remove("users");
      Injector injector = Injector.start(settings.put("measureSeconds", 600));
      Processes.await("load came", () -> server.served() > 50);
      injector.createStopFile();
      assertEquals(0, injector.await(), injector::console);
      assertConsistent(injector);
      assertEquals(server.served(), injector.requests());
    }
  }

  @Test
  void signalEndsRunAndLosesNothing() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      Injector injector = Injector.start(settings.put("measureSeconds", 600));
      Processes.await("load came", () -> server.served() > 500);
      long told = System.nanoTime();
      injector.terminate();
      assertEquals(SIGTERM_EXIT, injector.await(), injector::console);
      boolean stalled = System.nanoTime() - told > SIGNAL_GRACE;
      assertFilesAgree(injector);
      // Only where the machine stalls for that long, requests in flight are given up.
      long abandoned = injector.summary().get("abandonedRequests").asLong();
      assertTrue(abandoned == 0 || stalled, "given up: " + abandoned);
      long lost = server.served() - injector.requests();
      assertTrue(lost >= 0 && lost <= abandoned, "lost: " + lost + ", given up: " + abandoned);
      assertEquals("signal", injector.summary().get("endedBy").asText());
      assertTrue(injector.console().contains("ended by signal"), injector.console());
    }
  }

  @Test
  void offersTheOpenRateAndTheSameArrivalsForTheSameSeed() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "open").put("rate", 200).remove("users");
      Injector injector = Injector.run(settings.put("measureSeconds", 3));
      assertConsistent(injector);
      assertEquals(server.served(), injector.requests());
      // 600 arrivals are due before the end; a machine that stalls must say so, and not lose any
      // silently.
      long dropped = injector.summary().at("/arrivals/dropped").asLong();
      assertEquals(600.0, (double) (injector.requests() + dropped), 6);
      // Until the last answer, which may be late.
      JsonNode achieved = injector.summary().get("achieved");
      double seconds = achieved.get("seconds").asDouble();
      assertTrue(seconds > 2.9, "until the last answer: " + seconds);
      assertEquals(
          injector.requests() / seconds, achieved.get("requestsPerSecond").asDouble(), 1e-6);
      assertEquals(injector.summary().at("/arrivals/late").asLong(), injector.healthSum("late"));
      assertEquals(dropped, injector.healthSum("dropped"));
    }
  }

  @Test
  void slowServerDoesNotSlowArrivals() throws Exception {
    try (PingServer server =
        new PingServer(
            exchange -> {
              sleep(200);
              PingServer.PONG.answer(exchange);
            })) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "open").put("rate", 50).put("arrivals", "exponential").remove("users");
      Injector injector = Injector.run(settings.put("measureSeconds", 2));
      assertConsistent(injector);
      assertEquals(server.served(), injector.requests());
      // Poisson with mean 100: six standard deviations.
      long dropped = injector.summary().at("/arrivals/dropped").asLong();
      assertEquals(100.0, (double) (injector.requests() + dropped), 60);
      assertTrue(injector.summary().at("/operations/ping/latencyMillis/min").asDouble() >= 200);
    }
  }

  @Test
  void countsWrongStatusWrongBodyAndClosedConnectionsAsErrors() throws Exception {
    try (PingServer failing = new PingServer(x -> PingServer.answer(x, 500, "pong\n"));
        PingServer lying = new PingServer(x -> PingServer.answer(x, 200, "gnop\n"));
        PingServer closing = new PingServer(x -> x.close())) {
      List<String> targets = List.of(failing.url(), lying.url(), closing.url());
      ObjectNode settings = Injector.settings(folder, targets);
      Injector injector = Injector.start(settings.put("measureSeconds", 600));
      Processes.await(
          "each server was asked",
          () -> failing.served() > 20 && lying.served() > 20 && closing.served() > 20);
      injector.createStopFile();
      assertEquals(0, injector.await(), injector::console);
      assertConsistent(injector);
      long served = failing.served() + lying.served() + closing.served();
      assertEquals(served, injector.requests());
      assertEquals(served, injector.errors());
      // Six users, one request per 100 ms each: the pause after an error holds.
      JsonNode times = injector.summary().get("times");
      double tenths =
          (times.get("lastRequestEpochMillis").asLong()
                  - times.get("firstRequestEpochMillis").asLong())
              / 100.0;
      assertTrue(served <= 6 * (tenths + 2), "served " + served);
      JsonNode messages = injector.summary().get("errorMessages");
      long told = 0;
      for (JsonNode message : messages) {
        assertEquals("ping", message.get("operation").asText());
        told += message.get("count").asLong();
      }
      assertEquals(served, told);
      assertTrue(messages.toString().contains("500"), messages.toString());
      assertTrue(messages.size() >= 3, messages.toString());
    }
  }

  @Test
  void absentServerAndTimeoutsAreErrors() throws Exception {
    String absent = "http://127.0.0.1:" + Processes.freePort();
    try (PingServer hanging = new PingServer(exchange -> sleep(1000))) {
      ObjectNode settings = Injector.settings(folder, List.of(absent, hanging.url()));
      settings.put("requestTimeoutMillis", 300).put("measureSeconds", 600);
      Injector injector = Injector.start(settings);
      // By then each user of either server has tried several times.
      Processes.await("load came", () -> hanging.served() > 12);
      injector.createStopFile();
      assertEquals(0, injector.await(), injector::console);
      assertConsistent(injector);
      assertTrue(injector.requests() > 12);
      assertEquals(injector.requests(), injector.errors());
      String messages = injector.summary().get("errorMessages").toString();
      assertTrue(messages.contains("refused"), messages);
      assertTrue(messages.contains("imeout"), messages);
    }
  }

  static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
