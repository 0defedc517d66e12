// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What each operation of the packaged monolith asks of the database, as the original did. */
@Tag("full")
@ExtendWith(Deployments.Monolith.class)
final class MonolithWorkIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String USER = "uid1@email.com";
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String QUERY =
      "fromAirport=FRA&toAirport=JFK&fromDate=Mon+Jun+15+00%3A00%3A00+UTC+2026"
          + "&returnDate=Tue+Jun+23+00%3A00%3A00+UTC+2026&oneWay=false";

  private String cookie = "none=";

  @Test
  void operationsIssueTheCommandsOfTheOriginal(Deployment deployment) throws Exception {
    try (CommandRelay relay = new CommandRelay(deployment.database().port());
        PackagedServer monolith =
            deployment.another(
                "monolith",
                Map.of(
                    "MONGO_PORT",
                    Integer.toString(relay.port()),
                    "MONGO_DATABASE",
                    "acmeair_work"))) {
      monolith.start();
      monolith.awaitStatus("/health/ready", 200);
      get(monolith, "/rest/info/loader/load?numCustomers=3");
      relay.taken();

      HttpResponse<String> login =
          post(monolith, "/rest/api/login", FORM, "login=" + USER + "&password=password");
      cookie = login.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
      assertEquals(List.of("find customer", "insert customerSession"), relay.taken());

      String profile = get(monolith, "/rest/api/customer/byid/" + USER);
      assertEquals(List.of("find customerSession", "find customer"), relay.taken());
      post(
          monolith,
          "/rest/api/customer/byid/" + USER,
          "application/json",
          profile.replace("\"password\" : null", "\"password\":\"password\""));
      assertEquals(
          List.of("find customerSession", "find customer", "update customer", "find customer"),
          relay.taken());

      post(monolith, "/rest/api/flights/queryflights", FORM, QUERY);
      assertEquals(
          List.of("find flightSegment", "find flight", "find flightSegment", "find flight"),
          relay.taken());
      post(monolith, "/rest/api/flights/queryflights", FORM, QUERY);
      assertEquals(List.of(), relay.taken());

      String booking = "userid=" + USER + "&toFlightId=a&toFlightSegId=b";
      String booked =
          post(
                  monolith,
                  "/rest/api/bookings/bookflights",
                  FORM,
                  booking + "&retFlightId=null&retFlightSegId=null&oneWayFlight=true")
              .body();
      assertEquals(List.of("find customerSession", "insert booking"), relay.taken());
      post(
          monolith,
          "/rest/api/bookings/bookflights",
          FORM,
          booking + "&retFlightId=c&retFlightSegId=d&oneWayFlight=false");
      assertEquals(
          List.of("find customerSession", "insert booking", "insert booking"), relay.taken());

      get(monolith, "/rest/api/bookings/byuser/" + USER);
      assertEquals(List.of("find customerSession", "find booking"), relay.taken());
      String number = JSON.readTree(booked).get("departBookingId").asText();
      post(
          monolith,
          "/rest/api/bookings/cancelbooking",
          FORM,
          "number=" + number + "&userid=" + USER);
      assertEquals(List.of("find customerSession", "delete booking"), relay.taken());

      get(monolith, "/rest/info/config/countBookings");
      assertEquals(List.of("count booking"), relay.taken());
      get(monolith, "/rest/api/login/logout?login=" + USER);
      assertEquals(List.of("find customerSession", "delete customerSession"), relay.taken());
    }
  }

  private String get(PackagedServer monolith, String path)
      throws IOException, InterruptedException {
    return checked(
            monolith.send(HttpRequest.newBuilder(monolith.uri(path)).header("Cookie", cookie)))
        .body();
  }

  private HttpResponse<String> post(PackagedServer monolith, String path, String type, String body)
      throws IOException, InterruptedException {
    return checked(
        monolith.send(
            HttpRequest.newBuilder(monolith.uri(path))
                .header("Cookie", cookie)
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body))));
  }

  private static HttpResponse<String> checked(HttpResponse<String> response) {
    assertEquals(200, response.statusCode(), response::body);
    return response;
  }
}
