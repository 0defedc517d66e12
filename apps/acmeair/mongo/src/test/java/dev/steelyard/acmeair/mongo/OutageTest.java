// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.MongoException;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.data.CustomerLoader;
import dev.steelyard.embeddedmongo.EmbeddedMongo;
import dev.steelyard.testkit.Processes;
import dev.steelyard.testkit.Waiting;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The database is away at the start, comes, goes, and comes back. */
final class OutageTest {

  @Test
  void aConnectionOutlivesItsDatabase() throws Exception {
    int port = Processes.freePort();
    try (ServerContext context =
        ServerContext.of(
            TestDatabase.variables(port, Map.of("MONGO_SERVERSELECTIONTIMEOUT", "200")),
            "acmeair")) {
      CustomerService customers = new CustomerService(new MongoCustomers(context.database()));
      assertAway(context, customers);

      try (EmbeddedMongo server = EmbeddedMongo.start("127.0.0.1", port)) {
        assertEquals(port, server.port());
        Waiting.await("the database is there", context.connection()::up);
        new CustomerLoader(context.database()).load(1, 0, 0);
        assertTrue(customers.validate("uid0@email.com", "password"));
        assertEquals("5.0.0", context.shown().get("mongoVersion"));
        assertTrue(context.dataSetHash().isPresent());
      }
      Waiting.await("the database is gone", () -> !context.connection().up());
      assertAway(context, customers);

      try (EmbeddedMongo server = EmbeddedMongo.start("127.0.0.1", port)) {
        assertEquals(port, server.port());
        Waiting.await("the database is there", context.connection()::up);
        assertFalse(customers.validate("uid0@email.com", "password"));
      }
    }
  }

  private static void assertAway(ServerContext context, CustomerService customers) {
    assertFalse(context.connection().up());
    assertThrows(MongoException.class, () -> customers.validate("uid0@email.com", "password"));
    assertEquals(-1, new Counts(context.database()).counted("customer"));
    assertEquals("unknown", context.shown().get("mongoVersion"));
    assertEquals(Optional.empty(), context.dataSetHash());
  }
}
