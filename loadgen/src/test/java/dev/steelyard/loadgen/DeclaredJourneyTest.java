// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of real injectors that play declared journeys against a small shop. */
class DeclaredJourneyTest {
  /** A journey with everything that a declaration can hold. */
  static final String EVERYTHING =
      """
      {
        "variables": {
          "page": {"random": [1, 3]},
          "word": {"choose": ["red", "green & blue"]},
          "me": {"user": 1}
        },
        "visits": {
          "buy": {
            "weight": 60,
            "forget_cookies": true,
            "steps": [
              {"operation": "login", "method": "POST", "path": "/login",
               "form": {"name": "user${me}", "colour": "${word}"},
               "check": {"status": 302},
               "save": {"token": {"header": "Location"}, "gone": {"header": "Nowhere", "optional": true}}},
              {"operation": "home", "path": "/home?page=${page}",
               "headers": {"Accept": "text/html", "X-Token": "${token}"},
               "check": {"contains": ["Welcome user${me}"], "absent": "error", "matches": "pages: \\\\d+"},
               "save": {"csrf": {"css": "input[name=csrf]", "attribute": "value"}},
               "parts": [{"path": "/style.css", "conditional": true},
                         {"path": "/logo.png", "headers": {"Accept": "image/png"}}]},
              {"operation": "items", "path": "/items?limit=${limit}",
               "check": {"json": {"$.total": 3, "$.user": "user${me}", "$.open": true, "$.rest": null,
                                  "$.price": 1.5}},
               "save": {"id": {"json": "$.items[0].id", "keep": true}}},
              {"operation": "upload", "method": "POST", "path": "/upload/${id}",
               "multipart": {"csrf": "${csrf}",
                             "file": {"content": "Hello ${word}", "filename": "a.txt", "type": "text/plain"}},
               "check": {"status": [200, 201]},
               "save": {"size": {"regex": "size=(\\\\d+)"}}},
              {"operation": "order", "method": "PUT", "path": "/order/${id}",
               "headers": {"Content-Type": "application/json"},
               "body": "{\\"size\\": ${size}}"}
            ]
          },
          "watch": {
            "weight": 40,
            "steps": [
              {"operation": "broken", "path": "/broken", "optional": true},
              {"operation": "page", "path": "/page", "parts_in_turn": true,
               "parts": [{"path": "/style.css"}, {"path": "/logo.png"}],
               "pause": {"think": "1ms", "distribution": "exponential"}},
              {"operation": "ticker",
               "websocket": {"path": "/ticker", "headers": {"X-Me": "${me}"}, "protocol": "chat",
                             "send": "hello ${me}", "expect": "hello (\\\\d+) chat \\\\1", "within": "60s"},
               "pause": {"cycle": 0.002}}
            ]
          }
        }
      }
      """;

  /** A redirection by its whole address, and a link that is relative to the page it stands in. */
  private static final String FOLLOWING =
      """
      {"visits": {"v": {"steps": [
        {"operation": "start", "method": "POST", "path": "/ping/start", "check": {"status": 302},
         "save": {"to": {"header": "Location"}}},
        {"operation": "page", "path": "${to}",
         "save": {"link": {"css": "a.next", "attribute": "href"}}},
        {"operation": "linked", "path": "${link}"}]}}}
      """;

  @TempDir Path folder;

  @Test
  void followsAddressesThatAnswersGive() throws Exception {
    try (PingServer server =
        new PingServer(
            exchange -> {
              String asked = exchange.getRequestURI().toString();
              if (asked.equals("/ping/start")) {
                String host = exchange.getRequestHeaders().getFirst("Host");
                exchange.getResponseHeaders().set("Location", "http://" + host + "/ping/a/b");
                PingServer.answer(exchange, 302, "x");
              } else if (asked.equals("/ping/a/b")) {
                PingServer.answer(exchange, 200, "<a class='next' href='c?x=1&amp;y=2'>n</a>");
              } else {
                PingServer.answer(exchange, asked.equals("/ping/a/c?x=1&y=2") ? 200 : 404, asked);
              }
            })) {
      ObjectNode settings = settings(FOLLOWING, server.url());
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 60);
      JsonNode operations = injector.summary().get("operations");
      assertTrue(operations.at("/linked/requests").asLong() > 9, operations.toString());
      for (JsonNode operation : operations) {
        assertEquals(0, operation.get("errors").asLong(), injector::console);
      }
    }
  }

  /** Two fields of one name fit into no mapping: the form is written out. */
  @Test
  void valuesInTheBodyOfAFormAreEncoded() throws Exception {
    String journey =
        """
        {"visits": {"v": {"steps": [
          {"operation": "page", "path": "/ping/page", "save": {"csrf": {"regex": "csrf=(.*)"}}},
          {"operation": "tags", "method": "POST", "path": "/ping/tags",
           "headers": {"content-type": "Application/X-WWW-Form-Urlencoded; charset=utf-8"},
           "body": "tag=a&tag=${csrf}"}]}}}
        """;
    Queue<String> bodies = new ConcurrentLinkedQueue<>();
    try (PingServer server =
        new PingServer(
            exchange -> {
              if (exchange.getRequestURI().toString().equals("/ping/tags")) {
                bodies.add(
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
              }
              PingServer.answer(exchange, 200, "csrf=x+y==");
            })) {
      Injector.runUntil(settings(journey, server.url()), "a form came", () -> !bodies.isEmpty());
    }
    assertEquals(Set.of("tag=a&tag=x%2By%3D%3D"), Set.copyOf(bodies));
  }

  private ObjectNode settings(String journey, String url) {
    ObjectNode settings = Injector.settings(folder, List.of(url));
    settings.set("journey", Injector.json(journey));
    return settings;
  }

  @Test
  void playsEverything() throws Exception {
    try (ShopServer shop = new ShopServer()) {
      ObjectNode settings = settings(EVERYTHING, shop.url());
      settings.putObject("parameters").put("limit", 7);
      Injector injector =
          Injector.runUntil(
              settings, "load came", () -> shop.served("ticker") > 40 && shop.served("order") > 40);
      for (String operation :
          List.of("login", "home", "items", "upload", "order", "page", "ticker")) {
        assertEquals(
            shop.served(operation),
            injector.summary().at("/operations/" + operation + "/requests").asLong(),
            operation);
        assertEquals(
            0,
            injector.summary().at("/operations/" + operation + "/errors").asLong(),
            () -> operation + " " + injector.console());
      }
      assertEquals(
          shop.served("broken"), injector.summary().at("/operations/broken/errors").asLong());
      assertTrue(shop.served("broken") > 0);
    }
  }

  private static long summed(Injector injector, String operation, String what) throws Exception {
    return injector.summary().at("/operations/" + operation + "/" + what).asLong();
  }

  private static double millis(Injector injector, String operation, String what) throws Exception {
    return injector.summary().at("/operations/" + operation + "/latencyMillis/" + what).asDouble();
  }

  /** Each user gets a page in full once, and has it confirmed from then on. */
  @Test
  void conditionalPartsAskForWhatIsNewer() throws Exception {
    AtomicInteger full = new AtomicInteger();
    BiConsumer<String, HttpHeaders> watch =
        (path, headers) -> {
          if (path.equals("/style.css") && !headers.contains("If-None-Match")) {
            full.incrementAndGet();
          }
        };
    String journey =
        """
        {"visits": {"v": {"steps": [{"operation": "page", "path": "/page",
          "parts": [{"path": "/style.css", "conditional": true}]}]}}}
        """;
    try (ShopServer shop = new ShopServer(watch)) {
      ObjectNode settings = settings(journey, shop.url()).put("thinkTimeMillis", 5);
      Injector injector =
          Injector.runUntil(
              settings,
              "all users came, again and again",
              () -> full.get() >= 6 && shop.served("style.css") > 300);
      assertEquals(6, full.get(), "one for each user");
      assertEquals(shop.served("style.css"), summed(injector, "page", "requests"));
      assertEquals(0, summed(injector, "page", "errors"), injector::console);
    }
  }

  @Test
  void failuresEndTheVisitAndSayWhatWasWrong() throws Exception {
    String journey =
        """
        {"visits": {
          "status": {"steps": [{"operation": "status", "path": "/broken"},
                               {"operation": "never", "path": "/never"}]},
          "text": {"steps": [{"operation": "text", "path": "/echo/a", "check": {"contains": "b"}}]},
          "value": {"steps": [{"operation": "value", "path": "/echo/a",
                               "save": {"x": {"regex": "b(.)"}}}]},
          "part": {"steps": [{"operation": "part", "path": "/page", "parts": [{"path": "/broken"}]}]},
          "socket": {"steps": [{"operation": "socket", "websocket":
                       {"path": "/ticker", "send": "a", "expect": "b", "within": "50ms"}}]},
          "refused": {"steps": [{"operation": "refused", "websocket": {"path": "/nowhere", "expect": "b"}}]},
          "unheard": {"steps": [{"operation": "unheard", "websocket":
                       {"path": "/nowhere", "send": "a", "expect": "b"}}]},
          "unset": {"steps": [{"operation": "right", "path": "/echo/a",
                               "save": {"y": {"regex": "b(.)", "optional": true}}},
                              {"operation": "unset", "path": "/echo/${y}"}]}}}
        """;
    try (ShopServer shop = new ShopServer()) {
      ObjectNode settings = settings(journey, shop.url());
      Injector injector =
          Injector.runUntil(
              settings,
              "load came",
              () ->
                  shop.served("ticker") > 2
                      && shop.served("echo") > 40
                      && shop.served("nowhere") > 4);
      for (String operation :
          List.of("status", "text", "value", "part", "socket", "refused", "unheard", "unset")) {
        long errors = summed(injector, operation, "errors");
        assertTrue(errors > 0, () -> operation + " " + injector.console());
        assertEquals(errors, summed(injector, operation, "requests"), operation);
      }
      assertEquals(0, summed(injector, "right", "errors"));
      assertEquals(0, shop.served("never"));
      String messages = injector.summary().get("errorMessages").toString();
      for (String operation : List.of("refused", "unheard")) {
        String told =
            """
            {"operation":"%s","message":"the WebSocket was not opened: Invalid handshake response \
            getStatus: 500 Internal Server Error","count":%d}"""
                .formatted(operation, summed(injector, operation, "errors"));
        assertTrue(messages.contains(told), () -> told + " is not in " + messages);
      }
      for (String part :
          List.of(
              "the body has not \\\"b\\\"",
              "the answer has no x",
              "no answer gave ${y} a value",
              "found 500",
              "timeout")) {
        assertTrue(messages.contains(part), () -> part + " is not in " + messages);
      }
    }
  }

  /** Users are numbered over all injectors, and their mix may be given. */
  @Test
  void usersAreNumberedFromTheFirst() throws Exception {
    String journey =
        """
        {"variables": {"me": {"user": 100}},
         "visits": {"a": {"steps": [{"operation": "a", "path": "/echo/${me}",
                                     "check": {"matches": "/10[789]$"}}]},
                    "b": {"steps": [{"operation": "b", "path": "/never"}]}}}
        """;
    try (ShopServer shop = new ShopServer()) {
      // Ten users of three injectors: 4, 3, 3.
      ObjectNode settings = settings(journey, shop.url()).put("users", 10);
      settings.put("injectors", 3).put("injector", 2);
      settings.putObject("mix").put("a", 100);
      settings.put("thinkTimeMillis", 5);
      Injector injector = Injector.runUntil(settings, "load came", () -> shop.served("echo") > 100);
      assertEquals(shop.served("echo"), summed(injector, "a", "requests"));
      assertEquals(0, summed(injector, "a", "errors"), injector::console);
      assertEquals(0, shop.served("never"));
    }
  }

  /** A pattern that takes long to search for is the injector's affair, and not the server's. */
  @Test
  void latencyEndsBeforeChecks() throws Exception {
    String journey =
        """
        {"visits": {"v": {"steps": [{"operation": "slow", "path": "/echo/%s",
          "check": {"matches": "^.echo.(a*a*c|a*$)"}}]}}}
        """
            .formatted("a".repeat(3500));
    try (ShopServer shop = new ShopServer()) {
      ObjectNode settings = settings(journey, shop.url()).put("users", 1);
      Injector injector = Injector.runUntil(settings, "load came", () -> shop.served("echo") > 30);
      assertEquals(0, summed(injector, "slow", "errors"), injector::console);
      JsonNode times = injector.summary().get("times");
      double all =
          times.get("lastRequestEpochMillis").asDouble()
              - times.get("firstRequestEpochMillis").asDouble();
      double each = all / summed(injector, "slow", "requests");
      // The shortest: a busy machine prolongs the latencies of most.
      assertTrue(each > 3 * millis(injector, "slow", "min"), "ms for each operation: " + each);
    }
  }

  /**
   * Cycles are drawn as they are declared, and none is shorter. That they run from start to start
   * is {@code IntendedStartTest}'s.
   */
  @Test
  void cyclesAreDrawnAndKept() throws Exception {
    String journey =
        """
        {"visits": {"v": {"steps": [
          {"operation": "ping", "path": "/ping", "pause": {"cycle": "100ms"}}]}}}
        """;
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = settings(journey, server.url()).put("users", 1);
      Injector injector = Injector.runUntil(settings, "load came", () -> server.served() > 15);
      double accounted = 0;
      double elapsed = 0;
      double drawn = 0;
      double actual = 0;
      for (JsonNode line : injector.health()) {
        accounted += line.get("userSeconds").asDouble();
        elapsed += line.get("seconds").asDouble();
        drawn += line.at("/cycles/ping/drawnSeconds").asDouble();
        actual += line.at("/cycles/ping/actualSeconds").asDouble();
      }
      // The last one may still be going on at the end.
      double last = 0.1;
      assertTrue(injector.requests() <= elapsed / 0.1 + 2, injector::console);
      assertEquals(0.1 * injector.requests(), drawn, 0.001);
      assertTrue(actual >= drawn - 1e-6 && actual <= elapsed + last, "actual cycles " + actual);
      assertTrue(accounted > 0 && accounted <= elapsed, accounted + " accounted of " + elapsed);
    }
  }
}
