// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.steelyard.acmeair.session.Session;
import dev.steelyard.acmeair.session.SessionRepository;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Optional;
import org.bson.Document;

/** Sessions in their collection: one command for each call. */
@Singleton
public final class MongoSessions implements SessionRepository {

  private static final String CUSTOMER_ID = "customerid";
  private static final String LAST_ACCESS = "lastAccessedTime";
  private static final String TIMEOUT = "timeoutTime";

  private final MongoCollection<Document> sessions;
  private final ById byId;

  /** Keeps sessions in this database. */
  @Inject
  public MongoSessions(MongoDatabase database) {
    this.sessions = database.getCollection(Collections.SESSION);
    this.byId = new ById(database, Collections.SESSION);
  }

  @Override
  public Session add(Session session) {
    sessions.insertOne(
        new Document("_id", session.id())
            .append(CUSTOMER_ID, session.customerId())
            .append(LAST_ACCESS, session.lastAccess())
            .append(TIMEOUT, session.timeout()));
    return session;
  }

  @Override
  public Optional<Session> find(String id) {
    return byId.find(id)
        .map(
            stored ->
                new Session(
                    id,
                    stored.getString(CUSTOMER_ID),
                    stored.get(LAST_ACCESS, Instant.class),
                    stored.get(TIMEOUT, Instant.class)));
  }

  @Override
  public void remove(String id) {
    sessions.deleteMany(Filters.eq(id));
  }

  @Override
  public void removeAll() {
    sessions.deleteMany(new Document());
  }
}
