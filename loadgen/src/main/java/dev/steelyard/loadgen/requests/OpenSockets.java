// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import dev.steelyard.loadgen.journey.User;
import io.gatling.core.session.Session;
import io.netty.channel.EventLoop;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Gatling's sockets of users between two exchanges. They belong to a user and not to a session of
 * Gatling: in the open model any of those may send the next request of a user. A socket is used by
 * the event loop of the session that opened it alone: others move there for the exchange.
 */
final class OpenSockets {
  private final Map<User, OpenSocket> sockets = new ConcurrentHashMap<>();

  /**
   * @param gatlings what Gatling keeps of it in a session
   * @param loop that uses it
   * @param home event loop of the session that uses it now, or used it last
   */
  private record OpenSocket(Object gatlings, EventLoop loop, EventLoop home) {}

  private static User user(Session session) {
    return ((CurrentUser) session.attributes().apply(CurrentUser.ATTRIBUTE)).user();
  }

  /** Gatling goes on in the event loop of the session that it is given. */
  private static Session move(Session session, EventLoop loop) {
    return loop.equals(session.eventLoop())
        ? session
        : session.copy(
            session.scenario(),
            session.userId(),
            session.attributes(),
            session.baseStatus(),
            session.blockStack(),
            session.onExit(),
            loop);
  }

  /**
   * Puts the user's socket into the session.
   *
   * @param name of the session's attribute
   */
  AwaitStep takeUp(String name) {
    return new AwaitStep(
        (session, next) -> {
          OpenSocket socket =
              sockets.computeIfPresent(
                  user(session),
                  (user, open) ->
                      new OpenSocket(open.gatlings(), open.loop(), session.eventLoop()));
          next.accept(move(session.set(name, socket.gatlings()), socket.loop()));
        });
  }

  /**
   * Takes the socket out of the session; it is kept if it is open still.
   *
   * @param name of the session's attribute
   */
  AwaitStep handBack(String name) {
    return new AwaitStep(
        (session, next) -> {
          User user = user(session);
          EventLoop loop = session.eventLoop();
          OpenSocket used = sockets.remove(user);
          EventLoop home = used == null ? loop : used.home();
          if (session.contains(name)) {
            sockets.put(user, new OpenSocket(session.attributes().apply(name), loop, home));
          }
          next.accept(move(session.remove(name), home));
        });
  }
}
