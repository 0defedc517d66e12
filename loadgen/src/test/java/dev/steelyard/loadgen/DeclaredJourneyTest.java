// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
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
               "save": {"id": {"json": "$.items[0].id"}}},
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
               "websocket": {"path": "/ticker", "send": "hello ${me}", "expect": "hello (\\\\d+)", "within": "5s"},
               "pause": {"cycle": 0.002}}
            ]
          }
        }
      }
      """;

  @TempDir Path folder;

  private ObjectNode settings(String journey, String url) {
    ObjectNode settings = Injector.settings(folder, List.of(url));
    settings.set("journey", Injector.json(journey));
    return settings.put("requestTimeoutMillis", 30_000);
  }

  @Test
  void playsEverything() throws Exception {
    try (ShopServer shop = new ShopServer()) {
      ObjectNode settings = settings(EVERYTHING, shop.url()).put("measureSeconds", 600);
      settings.putObject("parameters").put("limit", 7);
      Injector injector = Injector.start(settings);
      Injector.waitUntil(() -> shop.served("ticker") > 40 && shop.served("order") > 40, "no load");
      injector.createStopFile();
      assertEquals(0, injector.await(), injector::console);
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
}
