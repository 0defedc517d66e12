// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.bench.Workload;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.web.AppServlet;
import jakarta.faces.application.FacesMessage;
import jakarta.faces.context.FacesContext;
import java.time.Instant;
import java.util.Map;
import java.util.function.Supplier;

/** The page being made: who looks at it, and what it is to say. */
final class Page {

  private static final String USER = AppServlet.USER;
  private static final String SINCE = AppServlet.SESSION_DATE;

  private Page() {}

  /** The id of the user who is logged in, by whatever front end, or null. */
  static String userId() {
    return (String) session().get(USER);
  }

  /** When the user logged in, or null. */
  static Instant since() {
    return (Instant) session().get(SINCE);
  }

  static void loggedIn(String userId) {
    session().put(USER, userId);
    session().put(SINCE, Instant.now());
  }

  /** Ends the session. */
  static void loggedOut() {
    FacesContext.getCurrentInstance().getExternalContext().invalidateSession();
  }

  /** Tells what a form that is posted asks for, which its path does not tell. */
  static void operation(String name) {
    FacesContext.getCurrentInstance()
        .getExternalContext()
        .getRequestMap()
        .put(Workload.OPERATION, name);
  }

  /** Says something at the top of the page. */
  static void say(String text) {
    FacesContext.getCurrentInstance().addMessage(null, new FacesMessage(text));
  }

  /**
   * The page that an action leads to; where it cannot be done as asked the same page, which says
   * why.
   *
   * @param before what it says before the reason
   * @throws TradeException if something failed below, which is no answer to the user
   */
  static String attempt(String before, Supplier<String> action) {
    try {
      return action.get();
    } catch (TradeException e) {
      if (e.failedBelow()) {
        throw e;
      }
      say(before + e.getMessage());
      return null;
    }
  }

  private static Map<String, Object> session() {
    return FacesContext.getCurrentInstance().getExternalContext().getSessionMap();
  }
}
