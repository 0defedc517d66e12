// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What customer and booking ask the database, seen between the packaged servers and it. */
@Tag("full")
@ExtendWith(Deployments.Services.class)
final class MicroservicesCommandsIT {

  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String USER = "uid0@email.com";
  private static final String LOGIN = "login=" + USER + "&password=password";

  private String token;

  @Test
  void operationsIssueTheCommandsOfTheOriginal(Deployment deployment) throws Exception {
    token =
        Forgery.withKey(deployment.signingKey())
            .token(USER, Forgery.ISSUER, Forgery.ROLE, Instant.now());
    try (CommandRelay relay = new CommandRelay(deployment.database().port())) {
      Map<String, String> environment =
          Map.of(
              "MONGO_PORT", Integer.toString(relay.port()),
              "MONGO_DATABASE", "acmeair_commands",
              "ACMEAIR_STACKAA_AUTH_URL", deployment.server("auth").uri("/auth").toString(),
              "ACMEAIR_STACKAA_FLIGHT_URL", deployment.server("flight").uri("/flight").toString(),
              "ACMEAIR_STACKAA_CUSTOMER_URL",
                  deployment.server("customer").uri("/customer").toString());
      try (PackagedServer customer = deployment.another("customer", environment);
          PackagedServer booking = deployment.another("booking", environment)) {
        customer.start();
        booking.start();
        customer.awaitStatus("/health/ready", 200);
        booking.awaitStatus("/health/ready", 200);
        customers(relay, customer);
        bookings(relay, booking);
      }
    }
  }

  private void customers(CommandRelay relay, PackagedServer customer) throws Exception {
    get(customer, "/customer/loader/load?numCustomers=3");
    relay.taken();
    post(customer, "/customer/internal/validateid", FORM, LOGIN);
    assertEquals(List.of("aggregate customer", "find customer"), relay.taken());
    post(customer, "/customer/internal/validateid", FORM, LOGIN);
    assertEquals(List.of("find customer"), relay.taken());
    String profile = get(customer, "/customer/byid/" + USER);
    assertEquals(List.of("find customer"), relay.taken());
    post(
        customer,
        "/customer/byid/" + USER,
        "application/json",
        profile.replace("\"password\": null", "\"password\": \"password\""));
    assertEquals(List.of("find customer", "update customer", "find customer"), relay.taken());
    post(customer, "/customer/internal/updateCustomerTotalMiles/" + USER, FORM, "miles=5");
    assertEquals(List.of("find customer", "update customer"), relay.taken());
  }

  private void bookings(CommandRelay relay, PackagedServer booking) throws Exception {
    String legs = "userid=" + USER + "&toFlightId=a&toFlightSegId=b&retFlightId=c&retFlightSegId=d";
    String booked = post(booking, "/booking/bookflights", FORM, legs + "&oneWayFlight=true");
    assertEquals(List.of("insert booking"), relay.taken());
    post(booking, "/booking/bookflights", FORM, legs + "&oneWayFlight=false");
    assertEquals(List.of("insert booking", "insert booking"), relay.taken());
    get(booking, "/booking/byuser/" + USER);
    assertEquals(List.of("find booking"), relay.taken());
    String number = new ObjectMapper().readTree(booked).get("departBookingId").asText();
    String cancelled = "number=" + number + "&userid=" + USER;
    post(booking, "/booking/cancelbooking", FORM, cancelled);
    assertEquals(List.of("find booking", "delete booking"), relay.taken());
    post(booking, "/booking/cancelbooking", FORM, cancelled);
    assertEquals(List.of("find booking"), relay.taken());
  }

  private String get(PackagedServer server, String path) throws IOException, InterruptedException {
    return answer(server, HttpRequest.newBuilder(server.uri(path)));
  }

  private String post(PackagedServer server, String path, String type, String body)
      throws IOException, InterruptedException {
    return answer(
        server,
        HttpRequest.newBuilder(server.uri(path))
            .header("Content-Type", type)
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private String answer(PackagedServer server, HttpRequest.Builder request)
      throws IOException, InterruptedException {
    HttpResponse<String> response = server.send(request.header("Cookie", "Bearer=" + token));
    assertEquals(200, response.statusCode(), response::body);
    return response.body();
  }
}
