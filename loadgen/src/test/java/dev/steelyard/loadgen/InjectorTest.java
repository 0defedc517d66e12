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
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.prefs.Preferences;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of real injectors against real servers. */
class InjectorTest {
  private static final int SIGTERM_EXIT = 143;

  @TempDir Path folder;

  /** What every run must fulfil: all files tell the same counts, and nothing was given up. */
  private static void assertConsistent(Injector injector) throws Exception {
    assertEquals(0, injector.summary().get("abandonedRequests").asLong());
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
      settings.put("rampSeconds", 2).put("thinkTimeMillis", 20);
      Injector injector = Injector.start(settings);
      // The last user begins after 1.7 s; two more intervals begin after the ramp.
      injector.stopOnce(
          "all users are active for seconds",
          () -> injector.healthText().split("\"activeUsers\":6", -1).length > 3);
      assertConsistent(injector);
      assertEquals(0, injector.errors());
      long served = a.served() + b.served() + c.served();
      assertEquals(served, injector.requests());
      for (PingServer server : List.of(a, b, c)) {
        assertEquals(2, server.connections(), "two users, each with a connection of its own");
      }
      JsonNode summary = injector.summary();
      assertEquals(100.0, summary.at("/achieved/mixPercent/ping").asDouble());
      JsonNode times = summary.get("times");
      long ramp =
          times.get("rampEndEpochMillis").asLong() - times.get("firstRequestEpochMillis").asLong();
      // It runs from the beginning; where the machine stalled, the first request came after that.
      assertTrue(ramp <= 2001, "the ramp took " + ramp + " ms");
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
      Path own = folder.resolve("runs");
      settings.put("output", own.resolve("run-{time}").toString()).put("measureSeconds", 0.5);
      Injector injector = Injector.startFromEnvironment(folder.resolve("out"), settings.toString());
      assertEquals(0, injector.await(), injector::console);
      List<Path> runs;
      try (Stream<Path> files = Files.list(own)) {
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
        ServerSocketChannel proxy = proxy()) {
      Path home = Files.createDirectory(folder.resolve("home"));
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      Injector injector =
          Injector.startFromEnvironment(
              folder.resolve("out"), settings.toString(), outside(proxy, home));
      injector.stopOnce("load came", () -> server.served() > 200);
      assertEquals(List.of(), tunnels(proxy), "connections to the outside");
      try (Stream<Path> left = Files.list(home)) {
        assertEquals(List.of(), left.toList());
      }
    }
  }

  /**
   * A start that comes to Gatling's look for a newer release late, as on a busy machine: an hour
   * after the look before it was noted.
   */
  static final class SlowStart {
    public static void main(String[] arguments) throws Exception {
      MemoryPreferencesFactory.install();
      Preferences release = Preferences.userRoot().node("/io/gatling/latestVersion");
      String key = "lastCheckTimestamp";
      release.putLong(key, release.getLong(key, 0) - Duration.ofHours(1).toMillis());
      LatestGatlingRelease.load();
    }
  }

  @Test
  void asksNobodyElseOnASlowStartEither() throws Exception {
    try (ServerSocketChannel proxy = proxy()) {
      Injector injector =
          Injector.launch(folder.resolve("out"), SlowStart.class, outside(proxy, folder));
      assertEquals(0, injector.await(), injector::console);
      assertEquals(List.of(), tunnels(proxy), "connections to the outside");
    }
  }

  /** Ends like one that is killed, which removes nothing of what it has unpacked. */
  static final class Halted {
    public static void main(String[] arguments) throws IOException {
      Files.createTempFile("library", ".so");
      Runtime.getRuntime().halt(0);
    }
  }

  @Test
  void whatAKilledOneLeavesIsInTheFolderOfItsTest() throws Exception {
    Injector injector = Injector.launch(folder.resolve("out"), Halted.class, List.of());
    assertEquals(0, injector.await(), injector::console);
    try (Stream<Path> left = Files.list(folder.resolve("out.tmp"))) {
      assertEquals(1, left.count());
    }
  }

  /** Options of a JVM that reaches the outside by a proxy, and whose user lives in a folder. */
  private static List<String> outside(ServerSocketChannel proxy, Path home) {
    return List.of(
        "-Duser.home=" + home,
        "-Dhttps.proxyHost=127.0.0.1",
        "-Dhttps.proxyPort=" + proxy.socket().getLocalPort());
  }

  private static ServerSocketChannel proxy() throws IOException {
    ServerSocketChannel proxy = ServerSocketChannel.open();
    proxy.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    proxy.configureBlocking(false);
    return proxy;
  }

  /**
   * What a proxy was asked for by a process that has ended. Somebody else may have tried its port
   * for a server of their own.
   */
  private static List<String> tunnels(ServerSocketChannel proxy) throws IOException {
    List<String> asked = new ArrayList<>();
    while (true) {
      try (SocketChannel caller = proxy.accept()) {
        if (caller == null) {
          return asked.stream().filter("CONNECT "::equals).toList();
        }
        caller.configureBlocking(false);
        ByteBuffer opening = ByteBuffer.allocate("CONNECT ".length());
        if (caller.read(opening) > 0) {
          asked.add(StandardCharsets.US_ASCII.decode(opening.flip()).toString());
        }
      }
    }
  }

  @Test
  void stopFileEndsRunAndLosesNothing() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 200);
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
      settings.put("model", "open").put("rate", 50).put("arrivals", "exponential");
      settings.remove("users");
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 50);
      assertConsistent(injector);
      assertEquals(server.served(), injector.requests());
    }
  }

  @Test
  void signalEndsRunAndLosesNothing() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      Injector injector = Injector.start(settings);
      injector.until("load came", () -> server.served() > 200);
      injector.terminate();
      assertEquals(SIGTERM_EXIT, injector.await(), injector::console);
      assertConsistent(injector);
      assertEquals(server.served(), injector.requests());
      assertEquals("signal", injector.summary().get("endedBy").asText());
      assertTrue(injector.console().contains("ended by signal"), injector.console());
    }
  }

  /** How they lie in time is {@code ArrivalsTest}'s; here none of them may be lost silently. */
  @Test
  void everyArrivalThatWasDueIsServedOrSaidToBeDropped() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "open").put("rate", 200).remove("users");
      Injector injector = Injector.run(settings.put("measureSeconds", 1.5));
      assertConsistent(injector);
      JsonNode summary = injector.summary();
      assertEquals("time", summary.get("endedBy").asText());
      assertEquals(server.served(), injector.requests());
      // 300 arrivals are due before the end, and two of them in the last 10 ms, too late to count.
      long dropped = summary.at("/arrivals/dropped").asLong();
      long due = injector.requests() + dropped;
      assertTrue(due >= 298 && due <= 300, "arrivals: " + due);
      JsonNode achieved = summary.get("achieved");
      assertEquals(injector.requests(), achieved.get("requests").asLong());
      double seconds = achieved.get("seconds").asDouble();
      assertEquals(
          seconds > 0 ? injector.requests() / seconds : 0,
          achieved.get("requestsPerSecond").asDouble(),
          1e-6);
      assertEquals(summary.at("/arrivals/late").asLong(), injector.healthSum("late"));
      assertEquals(
          summary.at("/arrivals/late").asLong(), summary.at("/operations/ping/late").asLong());
      assertEquals(dropped, injector.healthSum("dropped"));
    }
  }

  /** A server that answers nothing before it was asked 12 times at once. */
  @Test
  void slowServerDoesNotSlowArrivals() throws Exception {
    CountDownLatch asked = new CountDownLatch(12);
    try (PingServer server =
        new PingServer(
            exchange -> {
              asked.countDown();
              PingServer.awaitQuietly(asked);
              PingServer.PONG.answer(exchange);
            })) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "open").put("rate", 50).remove("users");
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 30);
      assertConsistent(injector);
      assertEquals(0, injector.errors());
      assertEquals(server.served(), injector.requests());
      // The first waited for the twelfth, which was due 11 gaps of 20 ms later.
      double longest = injector.summary().at("/operations/ping/latencyMillis/max").asDouble();
      assertTrue(longest >= 219, "longest: " + longest + " ms");
    }
  }

  @Test
  void countsWrongStatusWrongBodyAndClosedConnectionsAsErrors() throws Exception {
    try (PingServer failing = new PingServer(x -> PingServer.answer(x, 500, "pong\n"));
        PingServer lying = new PingServer(x -> PingServer.answer(x, 200, "gnop\n"));
        PingServer closing = new PingServer(x -> x.close())) {
      List<String> targets = List.of(failing.url(), lying.url(), closing.url());
      ObjectNode settings = Injector.settings(folder, targets);
      Injector injector =
          Injector.runUntil(
              settings,
              "each server was asked",
              () -> failing.served() > 20 && lying.served() > 20 && closing.served() > 20);
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
    try (PingServer hanging = new PingServer(PingServer.SILENCE)) {
      ObjectNode settings = Injector.settings(folder, List.of(absent, hanging.url()));
      settings.put("requestTimeoutMillis", 300);
      // By then each user of either server has tried several times.
      Injector injector = Injector.runUntil(settings, "load came", () -> hanging.served() > 12);
      assertConsistent(injector);
      assertTrue(injector.requests() > 12);
      assertEquals(injector.requests(), injector.errors());
      String messages = injector.summary().get("errorMessages").toString();
      assertTrue(messages.contains("refused"), messages);
      assertTrue(messages.contains("imeout"), messages);
    }
  }
}
