// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.stream.Collectors;

/** A customer of the services, who keeps cookies. */
final class Customer {

  private static final String LEGS =
      "&toFlightId=a&toFlightSegId=%s&retFlightId=b&retFlightSegId=%s&oneWayFlight=%s";

  private final Deployment deployment;
  private final String id;
  private String cookies = "";

  Customer(Deployment deployment, String id) {
    this.deployment = deployment;
    this.id = id;
  }

  HttpResponse<String> login() throws IOException, InterruptedException {
    HttpResponse<String> response =
        post("auth", "/auth/login", "login=" + id + "&password=password");
    if (response.statusCode() == 200) {
      cookies =
          response.headers().allValues("Set-Cookie").stream()
              .map(cookie -> cookie.split(";", 2)[0])
              .collect(Collectors.joining("; "));
    }
    return response;
  }

  HttpResponse<String> viewProfile() throws IOException, InterruptedException {
    return deployment.server("customer").send(request("customer", "/customer/byid/" + id));
  }

  HttpResponse<String> saveProfile(String json) throws IOException, InterruptedException {
    return deployment
        .server("customer")
        .send(
            request("customer", "/customer/byid/" + id)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json)));
  }

  HttpResponse<String> query(String from, String to, String day, boolean oneWay)
      throws IOException, InterruptedException {
    return post(
        "flight",
        "/flight/queryflights",
        "fromAirport=%s&toAirport=%s&fromDate=%s&returnDate=Mon+Jun+29+00:00:00+UTC+2026&oneWay=%s"
            .formatted(from, to, day.replace(' ', '+'), oneWay));
  }

  HttpResponse<String> book(String segment, boolean oneWay)
      throws IOException, InterruptedException {
    return post(
        "booking",
        "/booking/bookflights",
        "userid=" + id + LEGS.formatted(segment, segment, oneWay));
  }

  HttpResponse<String> bookings() throws IOException, InterruptedException {
    return deployment.server("booking").send(request("booking", "/booking/byuser/" + id));
  }

  HttpResponse<String> cancel(String booking) throws IOException, InterruptedException {
    return post("booking", "/booking/cancelbooking", "number=" + booking + "&userid=" + id);
  }

  private HttpResponse<String> post(String server, String path, String form)
      throws IOException, InterruptedException {
    return deployment
        .server(server)
        .send(
            request(server, path)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form)));
  }

  private HttpRequest.Builder request(String server, String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(deployment.server(server).uri(path));
    return cookies.isEmpty() ? request : request.header("Cookie", cookies);
  }

  /** Loads so many customers, the flights and no bookings. */
  static void load(Deployment deployment, int customers) throws IOException, InterruptedException {
    get(deployment, "customer", "/customer/loader/load?numCustomers=" + customers);
    get(deployment, "flight", "/flight/loader/load");
    get(deployment, "booking", "/booking/loader/load");
  }

  /** The answer of a server that must give one. */
  static String get(Deployment deployment, String server, String path)
      throws IOException, InterruptedException {
    HttpResponse<String> response = deployment.server(server).get(path);
    assertEquals(200, response.statusCode(), response::body);
    return response.body();
  }
}
