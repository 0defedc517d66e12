// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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

  @Test
  void tellsEachOperationOnce() throws Exception {
    try (PingServer server = new PingServer(PingServer.PONG)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url())).put("model", "try");
      settings.remove("users");
      settings.set("journey", Injector.json(JOURNEY));
      Injector injector = Injector.run(settings);
      List<JsonNode> told = new ArrayList<>();
      for (String line : Files.readAllLines(folder.resolve("out/trace.jsonl"))) {
        told.add(Injector.JSON.readTree(line));
      }
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
