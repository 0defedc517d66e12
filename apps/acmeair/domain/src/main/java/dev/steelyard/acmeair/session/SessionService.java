// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.session;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.steelyard.acmeair.data.Collections;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.bson.Document;

/** The sessions of the monolith: one document from login to logout, never prolonged. */
public final class SessionService {

  private static final Duration LIFE = Duration.ofDays(1);

  private final MongoCollection<Document> sessions;
  private final Clock clock;

  /** Keeps sessions in this database. */
  public SessionService(MongoDatabase database, Clock clock) {
    this.sessions = database.getCollection(Collections.SESSION);
    this.clock = clock;
  }

  /**
   * Opens a session: one insert.
   *
   * @return its id
   */
  public String open(String customerId) {
    String id = UUID.randomUUID().toString();
    Instant now = clock.instant();
    sessions.insertOne(
        new Document("_id", id)
            .append("customerid", customerId)
            .append("lastAccessedTime", now)
            .append("timeoutTime", now.plus(LIFE)));
    return id;
  }

  /**
   * The customer of a session: one find. A session that is older than a day is removed.
   *
   * @return nothing if there is no such session (any more)
   */
  public Optional<String> customerOf(String id) {
    Document session = sessions.find(Filters.eq(id)).first();
    if (session == null) {
      return Optional.empty();
    }
    if (session.get("timeoutTime", Instant.class).isBefore(clock.instant())) {
      close(id);
      return Optional.empty();
    }
    return Optional.of(session.getString("customerid"));
  }

  /** Ends a session, if there is one: one delete. */
  public void close(String id) {
    sessions.deleteMany(Filters.eq(id));
  }

  /** Ends all sessions. */
  public void closeAll() {
    sessions.deleteMany(new Document());
  }
}
