// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.calendar.Views.Upcoming;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Who is logged in, and what the session remembers of him until it changes here. */
final class LoggedInUser implements Serializable {

  private static final long serialVersionUID = 1L;
  private static final String ATTRIBUTE = "user";

  private final int id;
  private final String userName;
  private volatile Upcoming[] upcoming;
  private volatile Long requests;

  LoggedInUser(int id, String userName) {
    this.id = id;
    this.userName = userName;
  }

  /** The visitor of a request, if somebody is logged in. */
  static Optional<LoggedInUser> of(HttpServletRequest request) {
    HttpSession session = request.getSession(false);
    return session == null
        ? Optional.empty()
        : Optional.ofNullable((LoggedInUser) session.getAttribute(ATTRIBUTE));
  }

  /** Logs in: a session that was begun by somebody unknown gets another name. */
  void logIn(HttpServletRequest request) {
    request.getSession(true);
    request.changeSessionId();
    request.getSession().setAttribute(ATTRIBUTE, this);
  }

  int id() {
    return id;
  }

  String userName() {
    return userName;
  }

  /** The next events that he attends, read once until that changes. */
  List<Upcoming> upcoming(Supplier<List<Upcoming>> read) {
    Upcoming[] known = upcoming;
    if (known == null) {
      known = read.get().toArray(Upcoming[]::new);
      upcoming = known;
    }
    return List.of(known);
  }

  /** How many want to be his friends, read once in a session. */
  long requests(Supplier<Long> read) {
    Long known = requests;
    if (known == null) {
      known = read.get();
      requests = known;
    }
    return known;
  }

  /** What he attends, or who wants to be his friend, has changed. */
  void forget() {
    upcoming = null;
    requests = null;
  }
}
