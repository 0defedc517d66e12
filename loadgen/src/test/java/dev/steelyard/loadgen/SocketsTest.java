// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole runs with several messages over one WebSocket, and with cookies of handshakes. */
class SocketsTest {
  @TempDir Path folder;

  private ObjectNode settings(ShopServer shop, String visits) {
    ObjectNode settings = Injector.settings(folder, List.of(shop.url()));
    String journey = "{\"variables\": {\"me\": {\"user\": 1}}, \"visits\": {%s}}".formatted(visits);
    settings.set("journey", Injector.json(journey));
    return settings;
  }

  private static long summed(Injector injector, String operation, String what) throws Exception {
    return injector.summary().at("/operations/" + operation + "/" + what).asLong();
  }

  private static void assertRight(Injector injector, String... operations) throws Exception {
    for (String operation : operations) {
      assertTrue(summed(injector, operation, "requests") > 3, injector::console);
      assertEquals(0, summed(injector, operation, "errors"), injector::console);
    }
  }

  /** In the open model other sessions of Gatling than the first go on with the socket. */
  @ParameterizedTest
  @ValueSource(strings = {"closed", "open"})
  void eachExchangeIsAnOperationOverTheSameSocket(String model) throws Exception {
    String visits =
        """
        "v": {"steps": [
          {"operation": "talk", "pause": {"think": "1ms"}, "websocket":
            {"path": "/ticker", "headers": {"X-Me": "${me}"}, "protocol": "chat", "exchanges": [
              {"operation": "greeted", "expect": "^greeting", "within": "600s"},
              {"send": "talk ${me}", "expect": "^talk (\\\\d+) chat \\\\1 #1$", "within": "600s",
               "save": {"n": {"regex": "talk (\\\\d+)"}}},
              {"operation": "last", "send": "last ${n}", "expect": "^last (\\\\d+) chat \\\\1 #2$",
               "within": "600s", "pause": {"think": "2ms"}}]}},
          {"operation": "after", "path": "/echo/${n}"}]}
        """;
    try (ShopServer shop = new ShopServer()) {
      ObjectNode settings = settings(shop, visits);
      if (model.equals("open")) {
        settings.put("model", "open").put("rate", 200).remove("users");
      }
      Injector injector = Injector.runUntil(settings, "load came", () -> shop.served("last") > 60);
      assertRight(injector, "greeted", "talk", "last", "after");
      assertEquals(shop.served("opened"), summed(injector, "greeted", "requests"));
      assertEquals(shop.served("talk"), summed(injector, "talk", "requests"));
      assertEquals(shop.served("last"), summed(injector, "last", "requests"));
    }
  }

  /** What is left of a conversation is not sent once an exchange has failed. */
  @Test
  void anExchangeThatFailsEndsTheConversation() throws Exception {
    String visits =
        """
        "closed": {"steps": [
          {"operation": "bye", "optional": true, "websocket":
            {"path": "/ticker", "protocol": "chat", "exchanges": [
              {"send": "bye", "expect": "^bye", "within": "600s", "pause": {"think": "100ms"}},
              {"operation": "late", "send": "late", "expect": "late"},
              {"operation": "never", "send": "never", "expect": "never"}]}},
          {"operation": "after", "path": "/echo/a"}]},
        "wrong": {"steps": [
          {"operation": "wrong", "websocket": {"path": "/ticker", "protocol": "chat", "exchanges": [
              {"send": "a", "expect": "^b", "within": "50ms"},
              {"operation": "never", "send": "never", "expect": "never"}]}},
          {"operation": "never", "path": "/never"}]}
        """;
    try (ShopServer shop = new ShopServer()) {
      Injector injector =
          Injector.runUntil(
              settings(shop, visits),
              "load came",
              () -> shop.served("echo") > 10 && shop.served("a") > 10);
      assertRight(injector, "bye", "after");
      for (String operation : List.of("late", "wrong")) {
        long errors = summed(injector, operation, "errors");
        assertTrue(errors > 3, injector::console);
        assertEquals(errors, summed(injector, operation, "requests"), operation);
      }
      assertEquals(0, shop.served("late") + shop.served("never"));
      assertEquals(0, summed(injector, "never", "requests"));
      String messages = injector.summary().get("errorMessages").toString();
      String told =
          "\"late\",\"message\":\"the message was not sent: WebSocket was already closed\"";
      assertTrue(messages.contains(told), messages);
    }
  }

  /** The rest of a conversation cannot be tried again alone: its socket is closed. */
  @Test
  void aProbeBeginsAnewWhereAnExchangeFailed() throws Exception {
    String visits =
        """
        "v": {"steps": [
          {"operation": "first", "websocket": {"path": "/ticker", "protocol": "chat", "exchanges": [
              {"send": "a", "expect": "^a"},
              {"operation": "second", "send": "early", "expect": "^early", "within": "1s"}]}}]}
        """;
    try (ShopServer shop = new ShopServer()) {
      ObjectNode settings = settings(shop, visits).put("model", "probe");
      settings.remove("users");
      Injector injector = Injector.run(settings);
      assertEquals("all answered", injector.summary().get("endedBy").asText());
      assertTrue(shop.served("early") >= 3 && shop.served("a") >= 3, injector::console);
      assertEquals(0, summed(injector, "second", "errors"), injector::console);
    }
  }

  /** RFC 6265, section 5.3; a browser reads them of any answer. */
  @Test
  void cookiesOfHandshakesAreKept() throws Exception {
    String visits =
        """
        "v": {"forget_cookies": true, "steps": [
          {"operation": "none", "path": "/cookies", "check": {"contains": "cookies: ."}},
          {"operation": "socket", "websocket": {"path": "/ticker", "protocol": "chat",
            "expect": "^greeting, old=1; new=2$", "within": "600s"}},
          {"operation": "socket-set", "path": "/cookies",
           "check": {"contains": "cookies: seat=7; new=2."}},
          {"operation": "refused", "websocket": {"path": "/refused", "expect": "x"}, "optional": true},
          {"operation": "refused-set", "path": "/cookies",
           "check": {"contains": "cookies: seat=7; new=2; old=1; refused=3."}}]}
        """;
    try (ShopServer shop = new ShopServer()) {
      Injector injector =
          Injector.runUntil(settings(shop, visits), "load came", () -> shop.served("cookies") > 60);
      assertRight(injector, "none", "socket", "socket-set", "refused-set");
    }
  }
}
