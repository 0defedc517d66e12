// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.testkit.AllocatedBytes;
import dev.steelyard.testkit.Processes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What a request of each operation makes the services allocate, calls between them included: a
 * change that shifts it shifts what the workload says of collectors and heaps. Here the JVMs
 * compile with C1 alone, so that this depends on no warm-up; docs/acmeair.md has what warm JVMs
 * allocate.
 */
@ExtendWith(Deployments.class)
final class MicroservicesBytesIT {

  private static final String MONDAY = "Mon Jun 15 00:00:00 UTC 2026";
  private static final int REQUESTS = 100;
  private static final double BAND = 0.15;

  /** KiB of each operation, as they were measured when this was written. */
  private static final Map<String, Integer> EXPECTED =
      Map.of(
          "login", 1,
          "view-profile", 1,
          "update-customer", 1,
          "query-flight", 1,
          "book-flight", 1,
          "list-bookings", 1,
          "cancel-booking", 1);

  private interface Operation {
    void perform() throws Exception;
  }

  @Test
  void operationsAllocateWhatTheyDid(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    Customer customer = new Customer(deployment, "uid2@email.com");
    customer.login();
    List<AllocatedBytes> servers = new ArrayList<>();
    for (String name : List.of("auth", "customer", "flight", "booking")) {
      servers.add(new AllocatedBytes(deployment.server(name).process().pid()));
    }
    String profile = customer.viewProfile().body().replace("null}", "\"password\"}");
    List<String> booked = new ArrayList<>();
    Map<String, Operation> operations = new LinkedHashMap<>();
    operations.put("login", customer::login);
    operations.put("view-profile", customer::viewProfile);
    operations.put("update-customer", () -> customer.saveProfile(profile));
    operations.put("query-flight", () -> customer.query("FRA", "JFK", MONDAY, false));
    operations.put("book-flight", () -> booked.add(id(customer.book("AA90", true).body())));
    operations.put("cancel-booking", () -> customer.cancel(booked.remove(0)));
    operations.put("list-bookings", customer::bookings);

    Map<String, Double> measured = new LinkedHashMap<>();
    for (int round = 0; round < 2; round++) { // The first makes everything that is made once.
      for (Map.Entry<String, Operation> operation : operations.entrySet()) {
        long before = atRest(servers);
        for (int i = 0; i < REQUESTS; i++) {
          operation.getValue().perform();
        }
        measured.put(operation.getKey(), (atRest(servers) - before) / 1024.0 / REQUESTS);
      }
    }

    assertAll(
        measured.toString(),
        EXPECTED.entrySet().stream()
            .map(
                expected ->
                    () ->
                        assertEquals(
                            expected.getValue(),
                            measured.get(expected.getKey()),
                            BAND * expected.getValue(),
                            expected.getKey())));
  }

  private static String id(String reply) {
    return reply.replaceAll(".*\"departBookingId\":\"([^\"]+)\".*", "$1");
  }

  /**
   * The bytes of all servers, once nothing is done any more: miles are settled after the answer.
   */
  private static long atRest(List<AllocatedBytes> servers) throws Exception {
    long[] last = {0, sum(servers)};
    Processes.await(
        "the services are at rest",
        () -> {
          last[0] = last[1];
          last[1] = sum(servers);
          return last[1] - last[0] < 100_000;
        });
    return last[1];
  }

  private static long sum(List<AllocatedBytes> servers) {
    return servers.stream().mapToLong(AllocatedBytes::sum).sum();
  }
}
