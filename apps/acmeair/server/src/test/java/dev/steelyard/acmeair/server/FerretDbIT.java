// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * On FerretDB, another server of MongoDB's protocol, the monolith answers as on the embedded one;
 * and what was written is there after the database has been away, also if it was killed.
 */
@Tag("full")
@ExtendWith(Deployments.MonolithOnFerretDb.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class FerretDbIT {

  /** The one case that differs: a zero byte, which PostgreSQL's JSON cannot hold. */
  private static final String ZERO_BYTE =
      "a login with bytes that are no text is an unknown customer";

  @BeforeAll
  static void require() throws IOException, InterruptedException {
    String lacks = Database.ferretDbLacks();
    assumeTrue(lacks.isEmpty(), lacks);
  }

  @TestFactory
  @Order(1)
  Stream<DynamicTest> contract(Deployment deployment) throws Exception {
    return MonolithContractIT.tests(deployment)
        .filter(each -> !each.getDisplayName().equals(ZERO_BYTE));
  }

  // A difference from MongoDB that FerretDB documents: docs.ferretdb.io/v1.24/diff.
  @Test
  @Order(2)
  void zeroBytesAreRefused(Deployment deployment) throws Exception {
    HttpResponse<String> answer = MonolithContractIT.login(deployment, "uid0@email.com%00");
    assertEquals(500, answer.statusCode());
    assertEquals("The database refuses what it is asked for.\n", answer.body());
  }

  @Test
  @Order(3)
  void whatWasWrittenOutlivesTheDatabase(Deployment deployment) throws Exception {
    PackagedServer monolith = deployment.server("monolith");
    String customers = monolith.get("/rest/info/config/countCustomers").body();
    String bookings = monolith.get("/rest/info/config/countBookings").body();
    deployment.database().stop();
    monolith.awaitStatus("/health/ready", 503);
    deployment.database().start();
    monolith.awaitStatus("/health/ready", 200);
    assertEquals(customers, monolith.get("/rest/info/config/countCustomers").body());
    assertEquals(bookings, monolith.get("/rest/info/config/countBookings").body());
  }

  @Test
  @Order(4)
  void aFerretDbThatIsKilledHasLostNoBooking(Deployment deployment) throws Exception {
    survives(deployment, "ferretdb");
  }

  @Test
  @Order(5)
  void aPostgreSqlThatIsKilledHasLostNoBooking(Deployment deployment) throws Exception {
    survives(deployment, "postgres");
  }

  private static void survives(Deployment deployment, String program) throws Exception {
    PackagedServer monolith = deployment.server("monolith");
    long pid = monolith.process().pid();
    BookingLoad.Outcome outcome =
        BookingLoad.survives(monolith, deployment.database().program(program));
    System.out.println(program + " killed: " + outcome);
    assertTrue(monolith.process().isAlive());
    assertEquals(pid, monolith.process().pid());
  }
}
