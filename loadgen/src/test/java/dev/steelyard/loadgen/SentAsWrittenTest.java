// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a declaration says of a request and Gatling would change. */
class SentAsWrittenTest {
  private static final String JOURNEY =
      """
      {"visits": {"v": {"steps": [
        {"operation": "set", "path": "/cookies"},
        {"operation": "own", "path": "/echo//a///b", "headers": {"Cookie": "new=mine; seen=yes"},
         "check": {"contains": "/echo//a///b"}, "save": {"to": {"regex": "/echo.*"}},
         "parts": [{"path": "/style.css//x", "headers": {"cookie": "of=part"}, "conditional": true}]},
        {"operation": "link", "path": "${to}", "check": {"contains": "/echo//a///b"}},
        {"operation": "socket", "optional": true, "websocket":
          {"path": "/echo//ws", "headers": {"Cookie": "of=socket"}, "expect": "x", "within": "50ms"}},
        {"operation": "events", "optional": true, "events":
          {"path": "/echo//sse", "headers": {"Cookie": "of=events"}, "expect": "x", "within": "50ms"}}
      ]}}}
      """;

  @TempDir Path folder;

  @Test
  void pathsAndCookies() throws Exception {
    Set<String> seen = ConcurrentHashMap.newKeySet();
    try (ShopServer shop =
        new ShopServer(
            (path, headers) -> {
              boolean known = headers.contains("If-None-Match");
              seen.add(path + " " + headers.get("Cookie") + (known ? " known" : ""));
            })) {
      ObjectNode settings = Injector.settings(folder, List.of(shop.url()));
      settings.set("journey", Injector.json(JOURNEY));
      Injector injector = Injector.runUntil(settings, "load came", () -> shop.served("echo") > 40);
      JsonNode operations = injector.summary().get("operations");
      for (String operation : List.of("set", "own", "link")) {
        assertTrue(operations.at("/" + operation + "/requests").asLong() > 4, injector::console);
        assertEquals(0, operations.at("/" + operation + "/errors").asLong(), injector::console);
      }
    }
    assertEquals(
        Set.of(
            "/cookies null",
            "/cookies old=1; new=2",
            "/echo//a///b old=1; new=mine; seen=yes",
            "/style.css//x old=1; new=2; of=part",
            "/style.css//x old=1; new=2; of=part known",
            "/echo//a///b old=1; new=2",
            "/echo//ws old=1; new=2; of=socket",
            "/echo//sse old=1; new=2; of=events"),
        seen);
  }
}
