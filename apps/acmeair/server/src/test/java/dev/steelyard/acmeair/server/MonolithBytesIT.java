// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The bytes that each operation of the packaged monolith allocates: garbage is part of the
 * workload, and no change may shift it unseen. The server compiles with C1 alone, so that figures
 * do not depend on how warm it is; they are a few percent above those of a warm server.
 */
@Tag("full")
@ExtendWith(Deployments.Monolith.class)
final class MonolithBytesIT {

  /** KiB for a request; the original's: docs/lab-notes/2026-11-23-acmeair.md. */
  private static final Map<String, Integer> KIB =
      Map.of(
          "login", 141,
          "view-profile", 142,
          "update-customer", 285,
          "query-flight", 96,
          "book-flight", 128,
          "list-bookings", 149,
          "cancel-booking", 124,
          "logout", 122);

  private static final String USER = "uid1@email.com";
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String LOGIN = "login=" + USER + "&password=password";
  private static final String QUERY =
      "fromAirport=FRA&toAirport=JFK&fromDate=Mon+Jun+15+00%3A00%3A00+UTC+2026"
          + "&returnDate=Tue+Jun+23+00%3A00%3A00+UTC+2026&oneWay=false";
  private static final String BOOKING =
      "userid="
          + USER
          + "&toFlightId=0e1f2d3c-4b5a-4968-8776-655443322110&toFlightSegId=AA90"
          + "&retFlightId=null&retFlightSegId=null&oneWayFlight=true";

  private final Deque<String> sessions = new ArrayDeque<>();
  private final Deque<String> bookings = new ArrayDeque<>();
  private PackagedServer monolith;
  private RequestBytes bytes;
  private String cookie = "none=";

  @Test
  void operationsAllocateWhatTheyDid(Deployment deployment) throws Exception {
    Map<String, String> environment =
        Map.of(
            "MONGO_PORT",
            Integer.toString(deployment.database().port()),
            "MONGO_DATABASE",
            "acmeair_bytes",
            "EXECUTOR_THREADS",
            "8"); // A thread that ends takes its figure along: this many stay.
    try (PackagedServer server = deployment.another("monolith", environment)) {
      monolith = server;
      server.start();
      server.awaitStatus("/health/ready", 200);
      get("/rest/info/loader/load?numCustomers=3");
      assertTrue(get("/bench/info").contains("\"json\":\"original\""));
      bytes = new RequestBytes(List.of(server));
      measureAll();
      bytes.assertAre(KIB);
    }
  }

  private void measureAll() throws Exception {
    cookie = login();
    String profile = "/rest/api/customer/byid/" + USER;
    String sent = get(profile).replace("\"password\" : null", "\"password\":\"password\"");
    bytes.measure("view-profile", () -> get(profile));
    bytes.measure("update-customer", () -> post(profile, "application/json", sent));
    bytes.measure("query-flight", () -> post("/rest/api/flights/queryflights", FORM, QUERY));
    bytes.measure("book-flight", () -> bookings.push(book()));
    while (bookings.size() > 4) {
      cancel(bookings.pop()); // What users have in the long run.
    }
    bytes.measure("list-bookings", () -> get("/rest/api/bookings/byuser/" + USER));
    bytes.measure("cancel-booking", () -> cancel("one-that-is-no-more"));
    bytes.measure("login", () -> sessions.push(login()));
    bytes.measure(
        "logout",
        () -> {
          cookie = sessions.pop();
          get("/rest/api/login/logout?login=" + USER);
        });
  }

  private String login() throws IOException, InterruptedException {
    HttpResponse<String> answer = post("/rest/api/login", FORM, LOGIN);
    return answer.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
  }

  private String book() throws IOException, InterruptedException {
    return post("/rest/api/bookings/bookflights", FORM, BOOKING).body().split("\"", -1)[5];
  }

  private void cancel(String number) throws IOException, InterruptedException {
    post("/rest/api/bookings/cancelbooking", FORM, "number=" + number + "&userid=" + USER);
  }

  private String get(String path) throws IOException, InterruptedException {
    return checked(HttpRequest.newBuilder(monolith.uri(path))).body();
  }

  private HttpResponse<String> post(String path, String type, String body)
      throws IOException, InterruptedException {
    return checked(
        HttpRequest.newBuilder(monolith.uri(path))
            .header("Content-Type", type)
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private HttpResponse<String> checked(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    HttpResponse<String> response = monolith.send(request.header("Cookie", cookie));
    assertEquals(200, response.statusCode(), response::body);
    return response;
  }
}
