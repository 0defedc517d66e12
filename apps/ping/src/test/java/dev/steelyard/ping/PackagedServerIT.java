// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.ping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Waiting;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonValue;
import java.io.IOException;
import java.io.StringReader;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server package as it is shipped. One start serves all checks: it is what takes long. */
final class PackagedServerIT {

  private static final int REQUESTS = 250;
  private static final int SIGTERM_EXIT = 128 + 15;

  @Test
  void thePackageServesCountsAndEnds(@TempDir Path directory) throws Exception {
    Path archive = Path.of(System.getProperty("server.archive"));
    Map<String, String> environment = Map.of("JVM_ARGS", "-Xmx128m");
    try (PackagedServer server = PackagedServer.of("ping", archive, directory, environment)) {
      server.start();
      server.awaitStatus("/health/ready", 200);
      answersPing(server);
      answersHealth(server);
      saysWhatItIs(server);
      countsWhatWasSent(server);
      endsWhenAsked(server);
    }
  }

  private static void answersPing(PackagedServer server) throws Exception {
    HttpResponse<String> response = server.get("/ping");

    assertEquals(200, response.statusCode());
    assertEquals("pong\n", response.body());
    String type = response.headers().firstValue("Content-Type").orElseThrow();
    assertTrue(type.startsWith("text/plain"), type);
  }

  private static void answersHealth(PackagedServer server) throws Exception {
    for (String path : Set.of("/health/live", "/health/ready", "/health/started")) {
      HttpResponse<String> response = server.get(path);
      assertEquals(200, response.statusCode());
      assertEquals("UP", json(response).getString("status"));
    }
  }

  private static void saysWhatItIs(PackagedServer server) throws Exception {
    JsonObject info = json(server.get("/bench/info"));

    assertEquals("ping", info.getString("workload"));
    assertEquals("1.0.0", info.getString("workloadVersion"));
    assertEquals(JsonValue.NULL, info.get("dataSetHash"));
    assertEquals(System.getProperty("expected.fingerprint"), info.getString("build"));
    assertEquals(server.process().pid(), info.getJsonNumber("pid").longValue());
    assertEquals(
        System.getProperty("java.vm.version"), info.getJsonObject("jvm").getString("vmVersion"));
    String product = info.getString("server");
    assertTrue(product.contains(System.getProperty("expected.liberty")), product);
    String arguments = info.getJsonArray("jvmArguments").toString();
    assertTrue(arguments.contains("\"-Xmx128m\"") && !arguments.contains("--add-"), arguments);
    // Its own class loader has to reach the JVM's beans.
    String flags = info.getString("vmFlags");
    assertTrue(flags.contains("-XX:MaxHeapSize=134217728"), flags);
    saysItOnTheConsoleOnce(server);
  }

  private static void saysItOnTheConsoleOnce(PackagedServer server) throws Exception {
    List<String> lines =
        server.printed().lines().filter(line -> line.contains("Steelyard ping 1.0.0")).toList();
    assertEquals(1, lines.size(), server.printed());
    String line = lines.get(0);
    assertTrue(line.contains(System.getProperty("java.vm.version")), line);
    assertTrue(line.contains("-Xmx128m") && !line.contains("--add-"), line);
  }

  private static void countsWhatWasSent(PackagedServer server) throws Exception {
    long before = requests(server, 1);
    for (int i = 0; i < REQUESTS; i++) {
      assertEquals(200, server.get("/ping").statusCode());
    }
    assertEquals(before + REQUESTS, requests(server, before + REQUESTS));

    assertEquals(404, server.get("/no-such-thing").statusCode());
    JsonObject operations = operations(server);
    assertEquals(Set.of("ping", "other"), operations.keySet());
    assertEquals(0, operations.getJsonObject("ping").getInt("errors"));
    assertEquals(before + REQUESTS, operations.getJsonObject("ping").getInt("requests"));
  }

  private static void endsWhenAsked(PackagedServer server) throws Exception {
    assertEquals(0, server.process().descendants().count());
    assertEquals(SIGTERM_EXIT, server.stop());
  }

  /** The count of pings, once it has reached a number: the last one may be counted a bit late. */
  private static long requests(PackagedServer server, long atLeast) throws Exception {
    Waiting.await("pings were counted", () -> requests(server) >= atLeast);
    return requests(server);
  }

  private static long requests(PackagedServer server) throws IOException, InterruptedException {
    return operations(server).getJsonObject("ping").getInt("requests");
  }

  private static JsonObject operations(PackagedServer server)
      throws IOException, InterruptedException {
    return json(server.get("/bench/counters")).getJsonObject("operations");
  }

  private static JsonObject json(HttpResponse<String> response) {
    try (JsonReader reader = Json.createReader(new StringReader(response.body()))) {
      return reader.readObject();
    }
  }
}
