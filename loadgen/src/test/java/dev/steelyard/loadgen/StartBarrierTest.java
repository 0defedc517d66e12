// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.testkit.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several injectors that nobody steers: together they are one. */
class StartBarrierTest {
  @TempDir Path folder;

  private ObjectNode settings(String url, int injector, int port) {
    ObjectNode settings =
        Injector.settings(folder.resolve(Integer.toString(injector)), List.of(url));
    settings.put("users", 7).put("injectors", 2).put("injector", injector);
    return settings.put("meet", "127.0.0.1:" + port);
  }

  private static boolean hadRequests(Injector injector) {
    return injector.healthText().matches("(?s).*\"requests\":[1-9].*");
  }

  /** The second comes long before the first, and neither begins alone. */
  @Test
  void theyBeginTogetherAndTheFirstTellsTheWhole() throws Exception {
    int port = Processes.freePort();
    try (PingServer server = new PingServer(PingServer.PONG)) {
      Injector second = Injector.start(settings(server.url(), 1, port));
      second.until("the other came up", () -> second.healthFile().exists());
      assertEquals(0, server.served());
      long before = second.now();
      Injector first = Injector.start(settings(server.url(), 0, port));
      first.until("both had requests", () -> hadRequests(first) && hadRequests(second));
      first.createStopFile();
      second.createStopFile();
      assertEquals(0, first.await(), first::console);
      assertEquals(0, second.await(), second::console);

      JsonNode whole = Injector.JSON.readTree(folder.resolve("0/out/summary-of-all.json").toFile());
      JsonNode ping = whole.at("/operations/ping");
      assertEquals(server.served(), ping.get("requests").asLong());
      assertEquals(first.requests() + second.requests(), ping.get("requests").asLong());
      assertTrue(first.console().contains("All 2 injectors: declared journey, 7 closed users"));
      assertTrue(first.console().contains("Injector 0 of 2: declared journey, 4 closed users"));
      assertTrue(second.console().contains("Injector 1 of 2: declared journey, 3 closed users"));

      Histogram merged = new Histogram(3);
      long begun = Long.MAX_VALUE;
      for (Injector each : List.of(first, second)) {
        merged.add(Injector.totals(each.latencies()).get("ping"));
        long began = each.summary().at("/times/firstRequestEpochMillis").asLong();
        assertTrue(began >= before - 100, "it began before the other was there");
        begun = Math.min(begun, began);
      }
      assertEquals(merged.getValueAtPercentile(99) / 1e6, ping.at("/latencyMillis/p99").asDouble());
      assertEquals(merged.getMean() / 1e6, ping.at("/latencyMillis/mean").asDouble(), 1e-9);
      assertEquals(begun, whole.at("/times/firstRequestEpochMillis").asLong());

      String merge = mergedByHand();
      assertTrue(first.console().contains(merge.strip()), merge);
    }
  }

  /** What a person does with the folders of a run. */
  private String mergedByHand() throws Exception {
    Path out = folder.resolve("0/out");
    Injector program =
        Injector.launch(
            folder.resolve("merge"),
            Main.class,
            List.of(),
            List.of("merge", out.toString(), folder.resolve("1/out").toString()),
            null);
    assertEquals(0, program.await(), program::console);
    return program.console();
  }

  @Test
  void withoutOneOfThemThereIsNoWhole() throws Exception {
    int port = Processes.freePort();
    try (PingServer server = new PingServer(PingServer.PONG)) {
      Injector second = Injector.start(settings(server.url(), 1, port));
      Injector first = Injector.start(settings(server.url(), 0, port));
      first.until("load came", () -> server.served() > 0);
      second.kill();
      first.createStopFile();
      assertEquals(1, first.await(), first::console);
      assertTrue(
          first.console().contains("Injector 1 was lost: there is no summary of all."),
          first::console);
      assertFalse(Files.exists(folder.resolve("0/out/summary-of-all.json")));
    }
  }
}
