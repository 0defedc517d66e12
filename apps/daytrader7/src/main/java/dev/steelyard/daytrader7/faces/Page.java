// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.TradeException;
import jakarta.faces.application.FacesMessage;
import jakarta.faces.context.FacesContext;
import java.sql.Timestamp;
import java.util.Map;
import java.util.function.Supplier;

/** The page being made: who looks at it, and what it is to say. */
final class Page {

  private static final String USER = "uidBean";
  private static final String SINCE = "sessionCreationDate";

  private Page() {}

  /** The id of the user who is logged in, by whatever front end, or null. */
  static String userId() {
    return (String) session().get(USER);
  }

  /** When the user logged in, or null. */
  static Timestamp since() {
    return (Timestamp) session().get(SINCE);
  }

  static void loggedIn(String userId) {
    session().put(USER, userId);
    session().put(SINCE, new Timestamp(System.currentTimeMillis()));
  }

  /** Ends the session. */
  static void loggedOut() {
    FacesContext.getCurrentInstance().getExternalContext().invalidateSession();
  }

  /** Says something at the top of the page. */
  static void say(String text) {
    FacesContext.getCurrentInstance().addMessage(null, new FacesMessage(text));
  }

  /** The page that an action leads to; where it cannot be done the same page, which says why. */
  static String attempt(Supplier<String> action) {
    try {
      return action.get();
    } catch (TradeException e) {
      say(e.getMessage());
      return null;
    }
  }

  private static Map<String, Object> session() {
    return FacesContext.getCurrentInstance().getExternalContext().getSessionMap();
  }
}
