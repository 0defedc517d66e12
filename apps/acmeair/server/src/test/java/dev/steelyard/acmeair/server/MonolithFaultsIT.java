// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steelyard.testkit.PackagedServer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The monolith without its database, at the start and later, and with it again. */
@Tag("full")
@ExtendWith(Deployments.Monolith.class)
final class MonolithFaultsIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String LOGIN = "login=uid0%40email.com&password=password";

  @Test
  void itStartsWithoutItsDatabase(Deployment deployment) throws Exception {
    assertEquals(503, deployment.readyWithoutDatabase("monolith"));
    assertTrue(
        deployment.server("monolith").printed().contains("does not answer: operations answer 503"));
  }

  @Test
  void itOutlivesItsDatabase(Deployment deployment) throws Exception {
    PackagedServer monolith = deployment.server("monolith");
    String hash = load(monolith);
    assertEquals(200, login(monolith).statusCode());
    long pid = info(monolith).get("pid").asLong();
    int before = lines(monolith).size();

    deployment.database().stop();
    monolith.awaitStatus("/health/ready", 503);
    assertEquals(503, monolith.get("/health").statusCode());
    assertEquals(200, monolith.get("/health/live").statusCode());
    for (int i = 0; i < 3; i++) {
      HttpResponse<String> refused = login(monolith);
      assertEquals(503, refused.statusCode());
      assertEquals("The database does not answer now: try again later.\n", refused.body());
    }
    assertEquals("-1", monolith.get("/rest/info/config/countBookings").body());
    assertTrue(info(monolith).get("dataSetHash").isNull());

    deployment.database().start();
    monolith.awaitStatus("/health/ready", 200);
    assertEquals(403, login(monolith).statusCode());
    assertEquals(hash, load(monolith));
    assertEquals(200, login(monolith).statusCode());
    assertEquals(pid, info(monolith).get("pid").asLong());
    List<String> lines = lines(monolith);
    assertEquals(before + 2, lines.size(), lines.toString());
    deployment.awaitReady();
  }

  private static String load(PackagedServer monolith) throws Exception {
    assertEquals(200, monolith.get("/rest/info/loader/load?numCustomers=5").statusCode());
    return info(monolith).get("dataSetHash").asText();
  }

  private static HttpResponse<String> login(PackagedServer monolith) throws Exception {
    return monolith.send(
        HttpRequest.newBuilder(monolith.uri("/rest/api/login"))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(LOGIN)));
  }

  private static JsonNode info(PackagedServer monolith) throws Exception {
    return JSON.readTree(monolith.get("/bench/info").body());
  }

  /** What the server said of its database. */
  private static List<String> lines(PackagedServer monolith) throws Exception {
    return monolith.printed().lines().filter(line -> line.contains("The database at")).toList();
  }
}
