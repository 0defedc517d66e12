// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What servers do that has made injectors count, wait or blame wrongly. */
class HonestCountsTest {
  private static final int MIB = 1 << 20;

  @TempDir Path folder;

  private ObjectNode settings(String url, String step) {
    ObjectNode settings = Injector.settings(folder, List.of(url));
    settings.set("journey", Injector.json("{\"visits\": {\"v\": {\"steps\": [" + step + "]}}}"));
    return settings;
  }

  /** It reads every third request of a connection, and closes it in the place of an answer. */
  @Test
  void everyAttemptThatReachedTheServerIsCountedOnce() throws Exception {
    try (RawServer server =
        new RawServer(
            (number, to) -> {
              if (number == 3) {
                return false;
              }
              RawServer.write(to, RawServer.PONG);
              return true;
            })) {
      String step =
          "{\"operation\": \"ping\", \"method\": \"POST\", \"path\": \"/\", \"body\": \"x\"}";
      Injector injector =
          Injector.runUntil(settings(server.url(), step), "load came", () -> server.served() > 120);
      assertEquals(server.served(), injector.requests());
      assertTrue(injector.errors() >= 30, "errors: " + injector.errors());
      JsonNode ping = injector.summary().at("/operations/ping");
      assertEquals(injector.errors(), ping.get("unanswered").asLong());
      String messages = injector.summary().get("errorMessages").toString();
      assertTrue(messages.contains("\"no answer: "), messages);
    }
  }

  /**
   * It closes each connection once it has answered, and does not say so before. What was not sent
   * there goes over another, and is no error: if it were, half of all requests would be.
   */
  @Test
  void whatWasNotSentOverAClosedConnectionIsNoAttempt() throws Exception {
    try (RawServer server =
        new RawServer(
            (number, to) -> {
              RawServer.write(to, RawServer.PONG);
              return false;
            })) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      // Longer than the server takes from its answer to its close, on a busy machine, too.
      settings.put("thinkTimeMillis", 200);
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 60);
      long unanswered = injector.summary().at("/operations/ping/unanswered").asLong();
      assertEquals(injector.errors(), unanswered, injector::console);
      assertEquals(server.served(), injector.requests() - unanswered);
      assertTrue(injector.requests() > 3 * unanswered, "unanswered: " + unanswered);
    }
  }

  /** Hints that come before the answer (103), and a permission that nobody asked for (100). */
  @Test
  void interimAnswersAreNoAnswers() throws Exception {
    try (RawServer server =
        new RawServer(
            (number, to) -> {
              RawServer.write(
                  to, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n");
              to.flush();
              RawServer.write(to, "HTTP/1.1 100 Continue\r\n\r\n");
              RawServer.write(to, RawServer.PONG);
              return true;
            })) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 200);
      assertEquals(server.served(), injector.requests());
      assertEquals(0, injector.errors(), injector::console);
    }
  }

  /** Each sends all but its end, and that when all have sent as much: all are held at once. */
  private static RawServer largeReplies(int replies, int bytes) throws Exception {
    CountDownLatch asked = new CountDownLatch(replies);
    byte[] block = new byte[MIB / 4];
    return new RawServer(
        (number, to) -> {
          RawServer.write(to, "HTTP/1.1 200 OK\r\nContent-Length: " + bytes + "\r\n\r\n");
          for (int sent = block.length; sent < bytes; sent += block.length) {
            to.write(block);
          }
          asked.countDown();
          asked.await();
          to.write(block);
          return true;
        });
  }

  private Injector small(ObjectNode settings) throws Exception {
    return Injector.startFromEnvironment(
        folder.resolve("out"), settings.toString(), List.of("-Xmx48m"));
  }

  @Test
  void largeRepliesThatNobodyReadsNeedNoMemory() throws Exception {
    try (RawServer server = largeReplies(64, 2 * MIB)) {
      ObjectNode settings =
          settings(server.url(), "{\"operation\": \"ping\", \"path\": \"/\"}").put("users", 64);
      Injector injector = small(settings.put("thinkTimeMillis", 3_600_000));
      injector.stopOnce("all were answered", () -> sum(injector, "requests") >= 64);
      assertEquals(server.served(), injector.requests());
      assertEquals(0, injector.errors(), injector::console);
      double memory = injector.summary().at("/injector/memoryShare").asDouble();
      assertTrue(memory > 0 && memory < 0.8, "memory: " + memory);
    }
  }

  @Test
  void anInjectorWithoutMemorySaysThatItIsToBlame() throws Exception {
    try (RawServer server = largeReplies(64, 2 * MIB)) {
      String step =
          "{\"operation\": \"ping\", \"path\": \"/\", \"check\": {\"absent\": [\"never\"]}}";
      Injector injector = small(settings(server.url(), step).put("users", 64));
      assertEquals(1, injector.await(), injector::console);
      String sentence = "The injector ran out of memory, not the server";
      assertTrue(injector.console().contains(sentence), injector.console());
      assertFalse(injector.hasSummary());
    }
  }

  private static long sum(Injector injector, String key) {
    long sum = 0;
    for (String line : injector.healthText().lines().toList()) {
      if (line.endsWith("}")) {
        sum += Injector.json(line).get(key).asLong();
      }
    }
    return sum;
  }

  /**
   * A server that stands still for as long as 100 arrivals take, 2 s. A user who only sends when it
   * has its answer would see that once; here a hundred arrivals wait, for 2 s and less.
   */
  @Test
  void aServerThatStandsStillShowsInThePercentiles() throws Exception {
    AtomicLong asked = new AtomicLong();
    CountDownLatch stall = new CountDownLatch(100);
    try (PingServer server =
        new PingServer(
            exchange -> {
              if (asked.incrementAndGet() > 20) {
                stall.countDown();
                PingServer.awaitQuietly(stall);
              }
              PingServer.PONG.answer(exchange);
            })) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "open").put("rate", 50).remove("users");
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 200);
      assertEquals(0, injector.errors(), injector::console);
      JsonNode latency = injector.summary().at("/operations/ping/latencyMillis");
      // The k-th of the hundred was due k gaps of 20 ms before the last of them.
      long slower = injector.requests() / 100 + 1;
      long atLeast = 20 * (99 - slower);
      assertTrue(latency.get("p99").asDouble() >= (double) atLeast, latency.toString());
    }
  }

  /** Answers that come long after the load has ended make no rate lower. */
  @Test
  void ratesAreOverTheTimeInWhichRequestsWereDue() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    try (PingServer server =
        new PingServer(
            exchange -> {
              PingServer.awaitQuietly(released);
              PingServer.PONG.answer(exchange);
            })) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.put("model", "open").put("rate", 20).put("measureSeconds", 1).remove("users");
      Injector injector = Injector.start(settings);
      // Without a request where the machine stood still for all of the time of the load.
      injector.until(
          "the load has ended for a second",
          () -> injector.hasSummary() || injector.healthText().lines().count() > 4);
      released.countDown();
      assertEquals(0, injector.await(), injector::console);
      JsonNode achieved = injector.summary().get("achieved");
      long requests = injector.requests();
      assertEquals(requests > 0 ? 1 : 0, achieved.get("seconds").asDouble(), 1e-9);
      assertEquals((double) requests, achieved.get("requestsPerSecond").asDouble(), 1e-6);
    }
  }

  @Test
  void operationsThatAreCutOffAreCounted() throws Exception {
    try (PingServer server = new PingServer(PingServer.SILENCE)) {
      Injector injector = Injector.start(Injector.settings(folder, List.of(server.url())));
      injector.until("all users wait", () -> server.served() == 6);
      injector.terminate();
      injector.await();
      JsonNode summary = injector.summary();
      assertEquals(6, summary.get("abandonedRequests").asLong(), injector::console);
      assertEquals(6, summary.at("/operations/ping/abandoned").asLong());
      assertEquals(0, injector.requests());
    }
  }
}
