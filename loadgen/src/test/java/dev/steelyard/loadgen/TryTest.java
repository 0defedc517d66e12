// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One user that makes each visit once and tells what it saw. */
class TryTest {
  private static final String JOURNEY =
      """
      {"visits": {
        "right": {"weight": 1e-9, "steps": [
          {"operation": "first", "method": "POST", "path": "/ping/a", "body": "{\\"b\\": 1}",
           "save": {"word": {"regex": "p(o)ng"}, "all": {"regex": "[pn]", "which": "all"}}},
          {"repeat": 2, "steps": [{"operation": "again", "path": "/ping/${word}"}]}]},
        "never": {"steps": [{"if": {"saved": "word"}, "steps": [{"operation": "no", "path": "/"}]}]},
        "wrong": {"steps": [
          {"operation": "fails", "path": "/ping/x", "check": {"contains": "pang"}},
          {"operation": "unsent", "path": "/"}]}}}
      """;

  @TempDir Path folder;

  private static final String STREAMS =
      """
      {"visits": {"v": {"steps": [
        {"operation": "page", "optional": true, "path": "/ping/", "check": {"contains": "pang"}},
        {"operation": "refused", "optional": true, "events": {"path": "/ping/503", "expect": "b"}},
        {"operation": "none", "optional": true, "events": {"path": "/ping/204", "expect": "b"}},
        {"operation": "ended", "optional": true,
         "events": {"path": "/ping/events", "expect": "b", "within": "600s"}},
        {"operation": "unsaved", "optional": true,
         "events": {"path": "/ping/events", "expect": "a", "within": "600s",
           "save": {"x": {"regex": "c"}}}}]}}}
      """;

  private Injector injector;

  private List<JsonNode> told(PingServer server, String journey) throws Exception {
    ObjectNode settings = Injector.settings(folder, List.of(server.url())).put("model", "try");
    settings.remove("users");
    settings.set("journey", Injector.json(journey));
    injector = Injector.run(settings);
    List<JsonNode> told = new ArrayList<>();
    for (String line : Files.readAllLines(folder.resolve("out/trace.jsonl"))) {
      told.add(Injector.JSON.readTree(line));
    }
    return told;
  }

  private static void stream(HttpExchange exchange) throws IOException {
    String asked = exchange.getRequestURI().getPath().replaceFirst("/ping/", "");
    switch (asked) {
      case "204" -> exchange.sendResponseHeaders(204, -1);
      case "503" -> exchange.sendResponseHeaders(503, -1);
      case "events" -> {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write("data: a\n\n".getBytes(StandardCharsets.UTF_8));
      }
      default -> PingServer.PONG.answer(exchange);
    }
    exchange.close();
  }

  /** And not why another failed before. */
  @Test
  void tellsWhyAStreamFailed() throws Exception {
    try (PingServer server = new PingServer(TryTest::stream)) {
      List<String> messages =
          told(server, STREAMS).stream().map(each -> each.get("message").asText()).toList();
      String otherwise = "no event came, or it has not what is saved";
      assertEquals(
          List.of(
              "the body has not \"pang\"",
              "Server returned http response with code 503",
              otherwise,
              "the stream ended before the event came",
              otherwise),
          messages);
    }
  }

  @Test
  void tellsEachOperationOnce() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      List<JsonNode> told = told(server, JOURNEY);
      List<String> operations = told.stream().map(each -> each.get("operation").asText()).toList();
      assertEquals(List.of("first", "again", "again", "fails"), operations);
      assertEquals(4, server.served());
      JsonNode first = told.get(0);
      assertEquals(Injector.json("{\"word\": \"o\", \"all\": [\"p\", \"n\"]}"), first.get("saved"));
      assertFalse(first.get("failed").asBoolean());
      assertTrue(first.get("millis").asDouble() > 0);
      JsonNode exchange = first.at("/exchanges/0");
      assertEquals("POST", exchange.get("method").asText());
      assertEquals(server.url() + "/ping/a", exchange.get("url").asText());
      assertEquals(200, exchange.get("status").asInt());
      assertEquals("pong\n", exchange.get("body").asText());
      assertEquals("5", exchange.at("/headers/Content-length").asText());
      assertTrue(exchange.get("request_body").asText().contains("{\"b\": 1}"), exchange.toString());
      assertTrue(exchange.at("/request_headers").has("user-agent"), exchange.toString());
      JsonNode failed = told.get(3);
      assertTrue(failed.get("failed").asBoolean());
      assertEquals("the body has not \"pang\"", failed.get("message").asText());
      assertEquals(1, injector.summary().at("/operations/fails/errors").asLong());
    }
  }
}
