// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith.original;

import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.session.Session;
import dev.steelyard.acmeair.session.SessionRepository;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Sessions as texts: parsed when they are kept, and twice when they are found. */
record TextSessions(SessionRepository stored) implements SessionRepository {

  private static final String ID = "_id";
  private static final String CUSTOMER = "customerid";
  private static final String LAST_ACCESS = "lastAccessedTime";
  private static final String TIMEOUT = "timeoutTime";
  private static final String DATE = "$date";

  @Override
  public Session add(Session session) {
    Map<String, Object> parsed = ParsedJson.parsed(text(stored.add(session)));
    return new Session(
        (String) parsed.get(ID), session.customerId(), session.lastAccess(), session.timeout());
  }

  @Override
  public Optional<Session> find(String id) {
    return stored.find(id).map(TextSessions::parsed);
  }

  @Override
  public void remove(String id) {
    stored.remove(id);
  }

  @Override
  public void removeAll() {
    stored.removeAll();
  }

  private static Session parsed(Session session) {
    Map<String, Object> members = ParsedJson.parsed(text(session));
    long timeout = (Long) ParsedJson.parsed(members.get(TIMEOUT).toString()).get(DATE);
    return new Session(
        session.id(),
        (String) members.get(CUSTOMER),
        session.lastAccess(),
        Instant.ofEpochMilli(timeout));
  }

  private static String text(Session session) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put(ID, session.id());
    members.put(CUSTOMER, session.customerId());
    members.put(LAST_ACCESS, Map.of(DATE, session.lastAccess().toEpochMilli()));
    members.put(TIMEOUT, Map.of(DATE, session.timeout().toEpochMilli()));
    return JsonStyle.WIDE.print(members);
  }
}
