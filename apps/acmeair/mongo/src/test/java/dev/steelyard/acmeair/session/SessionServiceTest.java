// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.mongo.MongoSessions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class SessionServiceTest {

  private static final Clock NOW =
      Clock.fixed(Instant.parse("2026-06-15T10:00:00Z"), ZoneOffset.UTC);

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void aSessionLastsFromLoginToLogout() {
    SessionService sessions = new SessionService(new MongoSessions(database.database()), NOW);
    String first = sessions.open("uid1@email.com");
    String second = sessions.open("uid1@email.com");
    assertNotEquals(first, second);
    assertEquals(Optional.of("uid1@email.com"), sessions.customerOf(first));

    sessions.close(first);
    assertEquals(Optional.empty(), sessions.customerOf(first));
    assertEquals(Optional.of("uid1@email.com"), sessions.customerOf(second));
    for (String id : List.of("", "unknown", "{\"$ne\": null}", "a\0b")) {
      assertEquals(Optional.empty(), sessions.customerOf(id));
    }
    sessions.closeAll();
    assertEquals(0, stored());
  }

  @Test
  void aSessionOlderThanADayIsRemoved() {
    String id =
        new SessionService(new MongoSessions(database.database()), NOW).open("uid1@email.com");
    SessionService nextDay =
        new SessionService(
            new MongoSessions(database.database()), Clock.offset(NOW, Duration.ofDays(1)));
    assertEquals(Optional.of("uid1@email.com"), nextDay.customerOf(id));
    SessionService later =
        new SessionService(
            new MongoSessions(database.database()),
            Clock.offset(NOW, Duration.ofDays(1).plusMillis(1)));
    assertEquals(Optional.empty(), later.customerOf(id));
    assertEquals(0, stored());
  }

  @Test
  void aSessionIsStoredAsTheOriginalsAre() {
    String id =
        new SessionService(new MongoSessions(database.database()), NOW).open("uid1@email.com");
    Document session = database.database().getCollection("customerSession").find().first();
    assertEquals(
        List.of("_id", "customerid", "lastAccessedTime", "timeoutTime"),
        List.copyOf(session.keySet()));
    assertEquals(id, session.getString("_id"));
    assertEquals(NOW.instant().plus(Duration.ofDays(1)), session.get("timeoutTime"));
  }

  private long stored() {
    return database.database().getCollection("customerSession").countDocuments();
  }
}
