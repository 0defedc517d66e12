// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.session;

import java.util.Optional;

/** Where sessions are kept. */
public interface SessionRepository {

  /** Keeps a new session, and tells what is kept. */
  Session add(Session session);

  /** A session, or nothing for an unknown id. */
  Optional<Session> find(String id);

  /** Removes a session, if there is one. */
  void remove(String id);

  /** Removes all sessions. */
  void removeAll();
}
