// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The work of an operation: bytes of its answer and calls between the services. */
@Tag("full")
@ExtendWith(Deployments.Services.class)
final class MicroservicesWorkIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MONDAY = "Mon Jun 15 00:00:00 UTC 2026";
  private static final double TOLERANCE = 0.05;

  /** A call is counted a bit after its caller has the answer. */
  @FunctionalInterface
  private interface Operation {
    void perform() throws IOException, InterruptedException;
  }

  @Test
  void answersHaveTheSizesOfTheOriginals(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    Customer customer = new Customer(deployment, "uid0@email.com");
    // A call that nobody waits for would be counted among those of the next test.
    Calls calls = new Calls(deployment);
    calls.expect(1, 0, 0, customer::login);
    String profile = customer.viewProfile().body();
    assertSize(314, profile);
    assertSize(320, customer.saveProfile(profile.replace("null}", "\"password\"}")).body());
    assertSize(596, customer.query("FRA", "JFK", MONDAY, false).body());
    assertSize(206, customer.query("BOM", "JFK", MONDAY, false).body());
    assertSize(507, customer.query("FRA", "JFK", MONDAY, true).body());
    calls.expect(0, 1, 1, () -> assertEquals(72, customer.book("AA100", true).body().length()));
    calls.expect(0, 2, 2, () -> assertEquals(130, customer.book("AA100", false).body().length()));
    JsonNode bookings = JSON.readTree(customer.bookings().body());
    assertEquals(3, bookings.size());
    String first = bookings.get(0).get("_id").asText();
    calls.expect(0, 1, 1, () -> assertSize(53, customer.cancel(first).body()));
  }

  @Test
  void servicesCallEachOtherAsTheOriginalsDo(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    Customer customer = new Customer(deployment, "uid1@email.com");
    Calls calls = new Calls(deployment);

    calls.expect(1, 0, 0, customer::login);
    calls.expect(0, 0, 0, customer::viewProfile);
    calls.expect(0, 0, 0, () -> customer.query("FRA", "JFK", MONDAY, false));
    List<String> booked = new ArrayList<>();
    calls.expect(0, 1, 1, () -> booked.add(id(customer.book("AA90", true).body())));
    assertTrue(totalMiles(customer) > 0);
    calls.expect(0, 0, 0, customer::bookings);
    calls.expect(0, 1, 1, () -> customer.cancel(booked.get(0)));
    assertEquals(0, totalMiles(customer));
    calls.expect(0, 0, 0, () -> customer.cancel(booked.get(0)));
    // Both legs are settled at once, and as in the original the miles of one may overwrite the
    // other's.
    calls.expect(0, 2, 2, () -> customer.book("AA90", false));
    calls.expect(0, 1, 0, () -> customer.book("null", true));
  }

  private static String id(String reply) throws IOException {
    return JSON.readTree(reply).get("departBookingId").asText();
  }

  private static int totalMiles(Customer customer) throws IOException, InterruptedException {
    return JSON.readTree(customer.viewProfile().body()).get("total_miles").asInt();
  }

  private static void assertSize(int expected, String body) {
    assertEquals(expected, body.length(), TOLERANCE * expected, body);
  }

  /** Counts the calls that the services were asked for by each other. */
  private static final class Calls {

    private final Deployment deployment;
    private Map<String, Integer> seen;

    Calls(Deployment deployment) throws IOException, InterruptedException {
      this.deployment = deployment;
      this.seen = counted();
    }

    /** Performs an operation and waits for its calls; that there are no more shows at the next. */
    void expect(int validations, int rewardMiles, int miles, Operation operation)
        throws IOException, InterruptedException {
      assertEquals(seen, counted());
      Map<String, Integer> wanted =
          Map.of(
              "internal-validateid", seen.get("internal-validateid") + validations,
              "internal-rewardmiles", seen.get("internal-rewardmiles") + rewardMiles,
              "internal-miles", seen.get("internal-miles") + miles);
      operation.perform();
      Waiting.await("the services were called: " + wanted, () -> counted().equals(wanted));
      seen = wanted;
    }

    private Map<String, Integer> counted() throws IOException, InterruptedException {
      return Map.of(
          "internal-validateid", counted("customer", "internal-validateid"),
          "internal-rewardmiles", counted("flight", "internal-rewardmiles"),
          "internal-miles", counted("customer", "internal-miles"));
    }

    private int counted(String server, String operation) throws IOException, InterruptedException {
      return JSON.readTree(Customer.get(deployment, server, "/bench/counters"))
          .at("/operations/" + operation + "/requests")
          .asInt();
    }
  }
}
