// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The bytes that each operation of the packaged services allocates, in all of them: what {@link
 * MonolithBytesIT} is for the monolith. Named so that it comes before the tests that take the
 * database away: what a driver does about that is more than an operation.
 */
@Tag("full")
@ExtendWith(Deployments.Services.class)
final class MicroservicesCostIT {

  /** KiB for a request; the originals': docs/lab-notes/2026-11-23-acmeair.md. */
  private static final Map<String, Integer> KIB =
      Map.of(
          "login", 252,
          "view-profile", 90,
          "update-customer", 165,
          "query-flight", 50,
          "book-flight", 281,
          "list-bookings", 96,
          "cancel-booking", 310);

  private static final String MONDAY = "Mon Jun 15 00:00:00 UTC 2026";
  private static final String SEGMENT = "AA90";
  private static final int FEW = 4;

  private final Deque<String> bookings = new ArrayDeque<>();
  private Customer customer;

  @Test
  void operationsAllocateWhatTheyDid(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    customer = new Customer(deployment, "uid1@email.com");
    RequestBytes bytes =
        new RequestBytes(
            Stream.of("auth", "customer", "flight", "booking").map(deployment::server).toList());
    body(customer.login());
    String profile = body(customer.viewProfile()).replace("null}", "\"password\"}");
    bytes.measure("view-profile", () -> body(customer.viewProfile()));
    bytes.measure("update-customer", () -> body(customer.saveProfile(profile)));
    bytes.measure("query-flight", () -> body(customer.query("FRA", "JFK", MONDAY, false)));
    bytes.measure("book-flight", this::book);
    bytes.measure("cancel-booking", () -> body(customer.cancel(bookings.pop())));
    while (bookings.size() > FEW) {
      body(customer.cancel(bookings.pop()));
    }
    while (bookings.size() < FEW) {
      book(); // What users have in the long run.
    }
    bytes.measure("list-bookings", () -> body(customer.bookings()));
    bytes.measure("login", () -> body(customer.login()));
    bytes.assertAre(KIB);
  }

  private void book() throws IOException, InterruptedException {
    bookings.push(body(customer.book(SEGMENT, true)).split("\"", -1)[5]);
  }

  private static String body(HttpResponse<String> answer) {
    assertEquals(200, answer.statusCode(), answer::body);
    return answer.body();
  }
}
