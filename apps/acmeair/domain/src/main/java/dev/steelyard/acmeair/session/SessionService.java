// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.session;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The sessions of the monolith: kept from login to logout, never prolonged. */
@Singleton
public final class SessionService {

  private static final Duration LIFE = Duration.ofDays(1);

  private final SessionRepository sessions;
  private final Clock clock;

  @Inject
  public SessionService(SessionRepository sessions, Clock clock) {
    this.sessions = sessions;
    this.clock = clock;
  }

  /**
   * Opens a session.
   *
   * @return its id
   */
  public String open(String customerId) {
    Instant now = clock.instant();
    String id = UUID.randomUUID().toString();
    return sessions.add(new Session(id, customerId, now, now.plus(LIFE))).id();
  }

  /**
   * The customer of a session. A session that is older than a day is removed.
   *
   * @return nothing if there is no such session (any more)
   */
  public Optional<String> customerOf(String id) {
    Optional<Session> session = sessions.find(id);
    if (session.isPresent() && session.get().timeout().isBefore(clock.instant())) {
      close(id);
      return Optional.empty();
    }
    return session.map(Session::customerId);
  }

  /** Ends a session, if there is one. */
  public void close(String id) {
    sessions.remove(id);
  }

  /** Ends all sessions. */
  public void closeAll() {
    sessions.removeAll();
  }
}
