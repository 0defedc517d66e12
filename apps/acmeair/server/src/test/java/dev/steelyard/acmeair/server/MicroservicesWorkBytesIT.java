// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The bytes that a request of each operation makes the services allocate, calls between them and
 * work after the answer included: garbage is part of the workload, and no change may shift it
 * unseen. The JVMs of the tests compile with C1 alone, so that figures depend on no warm-up.
 */
@ExtendWith(Deployments.class)
final class MicroservicesWorkBytesIT {

  private static final String MONDAY = "Mon Jun 15 00:00:00 UTC 2026";

  /** How far from its figure an operation may be: JDKs differ, and runs by a few percent. */
  private static final double BAND = 0.10;

  /** KiB for a request, measured as this test does: docs/acmeair.md has the original's beside. */
  private static final Map<String, Integer> KIB =
      Map.of(
          "login", 248,
          "view-profile", 87,
          "update-customer", 152,
          "query-flight", 46,
          "book-flight", 280,
          "list-bookings", 96,
          "cancel-booking", 304);

  @Test
  void operationsAllocateWhatTheyDid(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    Customer customer = new Customer(deployment, "uid2@email.com");
    customer.login();
    RequestBytes bytes =
        new RequestBytes(
            Stream.of("auth", "customer", "flight", "booking").map(deployment::server).toList());
    String profile = customer.viewProfile().body().replace("null}", "\"password\"}");
    Deque<String> booked = new ArrayDeque<>();

    bytes.measure("login", () -> passed(customer.login()));
    bytes.measure("view-profile", () -> passed(customer.viewProfile()));
    bytes.measure("update-customer", () -> passed(customer.saveProfile(profile)));
    bytes.measure("query-flight", () -> passed(customer.query("FRA", "JFK", MONDAY, false)));
    bytes.measure("book-flight", () -> booked.add(book(customer)));
    bytes.measure("cancel-booking", () -> passed(customer.cancel(booked.remove())));
    for (int i = 0; i < 4; i++) {
      book(customer); // What users have in the long run.
    }
    bytes.measure("list-bookings", () -> passed(customer.bookings()));
    bytes.assertAre(KIB, BAND);
  }

  private static String book(Customer customer) throws Exception {
    return passed(customer.book("AA90", true))
        .body()
        .replaceAll(".*\"departBookingId\":\"([^\"]+)\".*", "$1");
  }

  private static HttpResponse<String> passed(HttpResponse<String> answer) {
    assertEquals(200, answer.statusCode(), answer::body);
    return answer;
  }
}
