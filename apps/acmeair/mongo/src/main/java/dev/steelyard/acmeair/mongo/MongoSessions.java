// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.steelyard.acmeair.session.Session;
import dev.steelyard.acmeair.session.SessionRepository;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.bson.Document;

/**
 * Sessions in their collection: one command for each call.
 *
 * <p>Nearly every request of the monolith looks for its session. For that and for a new session the
 * commands are put together here: from the collection's own methods the driver of today makes
 * tables of codecs and of results anew for each reply, which the original's, older one does less
 * (figures: docs/lab-notes/2026-11-23-acmeair.md). The commands are those that the methods send.
 */
@Singleton
public final class MongoSessions implements SessionRepository {

  private static final String CUSTOMER_ID = "customerid";
  private static final String LAST_ACCESS = "lastAccessedTime";
  private static final String TIMEOUT = "timeoutTime";

  private final MongoDatabase database;
  private final MongoCollection<Document> sessions;

  /** Keeps sessions in this database. */
  @Inject
  public MongoSessions(MongoDatabase database) {
    this.database = database;
    this.sessions = database.getCollection(Collections.SESSION);
  }

  @Override
  public Session add(Session session) {
    Document stored =
        new Document("_id", session.id())
            .append(CUSTOMER_ID, session.customerId())
            .append(LAST_ACCESS, session.lastAccess())
            .append(TIMEOUT, session.timeout());
    Document reply =
        database.runCommand(
            new Document("insert", Collections.SESSION)
                .append("ordered", true)
                .append("documents", List.of(stored)));
    if (!Integer.valueOf(1).equals(reply.get("n"))) {
      throw new MongoException("A session was not kept: " + reply.toJson());
    }
    return session;
  }

  @Override
  public Optional<Session> find(String id) {
    Document reply =
        database.runCommand(
            new Document("find", Collections.SESSION)
                .append("filter", new Document("_id", id))
                .append("limit", 1)
                .append("singleBatch", true));
    return reply.get("cursor", Document.class).getList("firstBatch", Document.class).stream()
        .findFirst()
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
