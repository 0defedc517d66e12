// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of real injectors against a small broker that knows who is logged in. */
class TradeInjectorTest {
  @TempDir Path folder;

  private final TradeServer server = new TradeServer();

  @AfterEach
  void close() {
    server.close();
  }

  private ObjectNode settings() {
    ObjectNode settings = Injector.settings(folder, List.of(server.url()));
    settings.put("scenario", "daytrader7").remove("journey");
    // However many sessions begin while one is under way, no two sell one user's holdings.
    settings
        .putObject("parameters")
        .put("users", 100_000)
        .put("quotes", 40)
        .put("facesSessions", 40)
        .put("socketSeconds", 1);
    return settings;
  }

  private static long requests(Injector injector, String operation) throws Exception {
    return injector.summary().at("/operations/" + operation + "/requests").asLong();
  }

  private static void assertNoErrors(Injector injector) throws Exception {
    assertEquals("[]", injector.summary().get("errorMessages").toString());
    assertEquals(0, injector.healthSum("errors"));
  }

  /** Runs until users have come back for another socket, and have done what is rare. */
  private Injector runUntilSocketsAreReplaced(
      ObjectNode settings, int users, BooleanSupplier enough) throws Exception {
    Injector injector =
        Injector.runUntil(
            settings,
            "enough was served",
            () ->
                enough.getAsBoolean()
                    && server.served("sockets") > 2L * users
                    && server.served("POST register.faces") > 0
                    && server.served("register") > 0
                    && server.served("sell") > 0);
    assertNoErrors(injector);
    return injector;
  }

  @Test
  void usersKeepTheirSocketsAndSessions() throws Exception {
    // A socket serves more than one operation; on a slow machine that takes until two of a user
    // come within a second.
    Injector injector =
        runUntilSocketsAreReplaced(
            settings(), 6, () -> server.served("updates") > server.served("sockets") + 6);
    assertEquals(server.served("updates"), requests(injector, "market-summary"));
    assertEquals(server.served("login"), requests(injector, "login"));
    assertEquals(server.served("logout"), requests(injector, "logout"));
    assertEquals(server.served("quotes"), requests(injector, "quotes"));
    assertEquals(
        server.served("POST welcome.faces"),
        requests(injector, "faces-welcome") + requests(injector, "faces-login"));
    assertEquals(
        server.registered(), requests(injector, "register") + requests(injector, "faces-register"));
    assertTrue(injector.console().contains("sales per purchase: "), injector::console);
  }

  @Test
  void arrivalsOfTheOpenModelUseTheSocketsOfTheirVisitors() throws Exception {
    ObjectNode settings = settings().put("model", "open").put("rate", 500);
    settings.remove("users");
    Injector injector = runUntilSocketsAreReplaced(settings, 32, () -> true);
    assertEquals(server.served("updates"), requests(injector, "market-summary"));
  }

  @Test
  void aProbeMeetsEveryOperationInTwoSessions() throws Exception {
    ObjectNode settings = settings().put("model", "probe");
    settings.remove("users");
    Injector injector = Injector.run(settings);
    assertNoErrors(injector);
    assertEquals(25, injector.summary().get("firstAnswers").size());
    assertEquals(1, requests(injector, "login"));
    assertEquals(1, requests(injector, "faces-login"));
  }

  @Test
  void aLogOutOfALostSessionIsAnError() throws Exception {
    server.loseSessions();
    Injector injector =
        Injector.runUntil(
            settings(),
            "users of both front ends logged out",
            () -> server.served("logout") > 0 && server.served("lost") > 0);
    String messages = injector.summary().get("errorMessages").toString();
    assertTrue(messages.contains("{\"operation\":\"logout\""), messages);
    assertTrue(messages.contains("{\"operation\":\"faces-logout\""), messages);
  }

  @Test
  void aSocketWithoutReplyIsAnErrorAndIsReplaced() throws Exception {
    server.silence(true);
    ObjectNode settings = settings().put("requestTimeoutMillis", 3_000).put("users", 2);
    settings.withObject("/parameters").put("facesSessions", 0).put("socketSeconds", 600);
    Injector injector = Injector.start(settings);
    injector.until("a reply is missing", () -> server.served("updates") > 0);
    // One is enough: each takes as long as the limit.
    server.silence(false);
    injector.stopOnce("a socket was replaced", () -> server.served("sockets") > 2);
    JsonNode messages = injector.summary().get("errorMessages");
    assertTrue(messages.toString().contains("\"no reply in time\""), messages.toString());
    // The time limit is that of all requests: where the machine stalls, others meet it.
    for (JsonNode each : messages) {
      String message = each.get("message").asText();
      assertTrue(message.contains("in time") || message.contains("imeout"), messages.toString());
    }
    assertTrue(injector.summary().at("/operations/market-summary/errors").asLong() > 0);
  }
}
