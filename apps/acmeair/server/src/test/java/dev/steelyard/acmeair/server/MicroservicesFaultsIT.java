// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the servers do while something that they need is away, and afterwards. */
@Tag("full")
@ExtendWith(Deployments.Services.class)
final class MicroservicesFaultsIT {

  private static final String MONDAY = "Mon Jun 15 00:00:00 UTC 2026";
  private static final List<String> WITH_DATABASE = List.of("customer", "flight", "booking");

  @Test
  void withoutDatabaseServersAreAliveAndNotReady(Deployment deployment) {
    for (String name : Deployment.WITH_DATABASE) {
      assertEquals(503, deployment.readyWithoutDatabase(name), name);
    }
    for (String name : List.of("auth", "main")) {
      assertEquals(200, deployment.readyWithoutDatabase(name), name);
    }
  }

  @Test
  void theDatabaseGoesAndComesBack(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    Customer customer = new Customer(deployment, "uid0@email.com");
    assertEquals(200, customer.login().statusCode());

    deployment.database().stop();
    for (String name : Deployment.WITH_DATABASE) {
      deployment.server(name).awaitStatus("/health/ready", 503);
      assertEquals(200, deployment.server(name).get("/health/live").statusCode());
    }
    assertUnavailable("database", customer.viewProfile());
    assertUnavailable("database", customer.query("AMS", "NRT", MONDAY, false));
    assertUnavailable("database", customer.book("AA1", true));
    assertUnavailable("database", customer.bookings());
    assertUnavailable("customer service", new Customer(deployment, "uid1@email.com").login());
    assertEquals("-1", Customer.get(deployment, "booking", "/booking/config/countBookings"));

    deployment.database().start();
    deployment.awaitReady();
    Customer.load(deployment, 3);
    awaitLogin(customer);
    assertEquals(200, customer.viewProfile().statusCode());
    assertEquals(200, customer.book("AA1", true).statusCode());
    for (String name : WITH_DATABASE) {
      String printed = deployment.server(name).printed();
      assertTrue(printed.contains("The database at 127.0.0.1:"), printed);
      assertFalse(printed.contains("\tat "), printed);
    }
  }

  @Test
  void bookingServesWhileTheOthersAreAway(Deployment deployment) throws Exception {
    Customer.load(deployment, 3);
    Customer customer = new Customer(deployment, "uid0@email.com");
    awaitLogin(customer);

    deployment.server("customer").stop();
    assertUnavailable("customer service", customer.login());
    long customerFailures = counted(deployment, "customerfailures");
    assertEquals(200, customer.book("AA1", true).statusCode());
    Waiting.await(
        "the failure is counted", () -> counted(deployment, "customerfailures") > customerFailures);

    deployment.server("flight").stop();
    long flightFailures = counted(deployment, "flightfailures");
    assertEquals(200, customer.book("AA2", true).statusCode());
    Waiting.await(
        "the failure is counted", () -> counted(deployment, "flightfailures") > flightFailures);
    assertEquals(200, customer.bookings().statusCode());
    assertEquals(200, deployment.server("booking").get("/health/ready").statusCode());

    deployment.server("customer").start();
    deployment.server("flight").start();
    deployment.awaitReady();
    awaitLogin(customer);
    awaitMiles(deployment, customer);
  }

  /** The breaker of the calls stays open for a moment after the service is back. */
  private static void awaitLogin(Customer customer) throws IOException, InterruptedException {
    Waiting.await("customers can log in", () -> customer.login().statusCode() == 200);
  }

  /** Books until miles arrive; each time only when the calls of the time before have ended. */
  private static void awaitMiles(Deployment deployment, Customer customer)
      throws IOException, InterruptedException {
    Waiting.await(
        "miles are settled again",
        () -> {
          long flightCalls = calls(deployment, "flight");
          long customerCalls = calls(deployment, "customer");
          long failed = counted(deployment, "flightfailures");
          assertEquals(200, customer.book("AA1", true).statusCode());
          Waiting.await("flight was asked", () -> calls(deployment, "flight") > flightCalls);
          if (counted(deployment, "flightfailures") > failed) {
            return false;
          }
          Waiting.await("customer was told", () -> calls(deployment, "customer") > customerCalls);
          return customer.viewProfile().body().matches(".*\"total_miles\": [1-9].*");
        });
  }

  private static long calls(Deployment deployment, String service)
      throws IOException, InterruptedException {
    return counted(deployment, service + "successes") + counted(deployment, service + "failures");
  }

  private static long counted(Deployment deployment, String counter)
      throws IOException, InterruptedException {
    return Long.parseLong(Customer.get(deployment, "booking", "/booking/rewards/" + counter));
  }

  private static void assertUnavailable(String what, HttpResponse<String> response) {
    assertEquals(503, response.statusCode(), response::body);
    assertEquals("The " + what + " does not answer now: try again later.\n", response.body());
  }
}
