// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.testkit.AllocatedBytes;
import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The bytes that a request of each operation makes the services allocate, calls between them and
 * work after the answer included: garbage is part of the workload, and no change may shift it
 * unseen. The JVMs of the tests compile with C1 alone, so that figures depend on no warm-up.
 */
@ExtendWith(Deployments.class)
final class MicroservicesBytesIT {

  private static final String MONDAY = "Mon Jun 15 00:00:00 UTC 2026";
  private static final int WARM_UP = 30;
  private static final int REQUESTS = 100;

  /** How far from its figure an operation may be: JDKs differ, and servers have some timers. */
  private static final double BAND = 0.1;

  /** Bytes between two looks: a request has more, a server's own threads have less. */
  private static final long AT_REST = 50_000;

  /** KiB for a request, measured as this test does: docs/acmeair.md has the original's beside. */
  private static final Map<String, Integer> KIB =
      Map.of(
          "login", 215,
          "view-profile", 112,
          "update-customer", 159,
          "query-flight", 70,
          "book-flight", 284,
          "list-bookings", 86,
          "cancel-booking", 256);

  private interface Operation {
    HttpResponse<String> perform() throws Exception;
  }

  private final List<AllocatedBytes> servers = new ArrayList<>();
  private final Map<String, Long> found = new TreeMap<>();

  @Test
  void operationsAllocateWhatTheyDid(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    Customer customer = new Customer(deployment, "uid2@email.com");
    customer.login();
    for (String name : List.of("auth", "customer", "flight", "booking")) {
      servers.add(new AllocatedBytes(deployment.server(name).process().pid()));
    }
    String profile = customer.viewProfile().body().replace("null}", "\"password\"}");
    Deque<String> booked = new ArrayDeque<>();

    measure("login", customer::login);
    measure("view-profile", customer::viewProfile);
    measure("update-customer", () -> customer.saveProfile(profile));
    measure("query-flight", () -> customer.query("FRA", "JFK", MONDAY, false));
    measure(
        "book-flight",
        () -> {
          HttpResponse<String> made = customer.book("AA90", true);
          booked.add(made.body().replaceAll(".*\"departBookingId\":\"([^\"]+)\".*", "$1"));
          return made;
        });
    measure("cancel-booking", () -> customer.cancel(booked.remove()));
    perform(4, () -> customer.book("AA90", true)); // What users have in the long run.
    measure("list-bookings", customer::bookings);

    assertAll(
        found.toString(),
        KIB.entrySet().stream()
            .map(
                known ->
                    () ->
                        assertEquals(
                            known.getValue(),
                            found.get(known.getKey()),
                            BAND * known.getValue(),
                            known.getKey())));
  }

  private void measure(String operation, Operation performed) throws Exception {
    perform(WARM_UP, performed);
    long before = atRest();
    perform(REQUESTS, performed);
    found.put(operation, (atRest() - before) / REQUESTS / 1024);
  }

  private static void perform(int times, Operation performed) throws Exception {
    for (int i = 0; i < times; i++) {
      HttpResponse<String> answer = performed.perform();
      assertEquals(200, answer.statusCode(), answer::body);
    }
  }

  /** The bytes of all servers once nothing is done any more: miles are settled after the answer. */
  private long atRest() throws Exception {
    long last = sum();
    while (true) {
      Thread.sleep(200);
      long now = sum();
      if (now - last < AT_REST) {
        return now;
      }
      last = now;
    }
  }

  private long sum() throws Exception {
    long sum = 0;
    for (AllocatedBytes server : servers) {
      sum += server.sum();
    }
    return sum;
  }
}
