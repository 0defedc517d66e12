// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.daytrader;

import java.util.List;

/** The requests, in the order of their indexes, and what the page that answers each must show. */
public enum TradeStep {
  /** Logs in; starts a session of the Pages front end. */
  LOGIN("login", true, "/app", "Welcome to DayTrader"),
  /** Asks for quotes, as the plan does: see {@link TradeJourney}. */
  QUOTES("quotes", "DayTrader: Quotes and Trading"),
  /** Looks at the home page. */
  HOME("home", "Welcome to DayTrader"),
  /** Lists the holdings. */
  PORTFOLIO("portfolio", "DayTrader Portfolio"),
  /** Looks at the account. */
  ACCOUNT("account", "DayTrader Account Information"),
  /** Asks for the market summary over a WebSocket that stays open. */
  MARKET_SUMMARY("market-summary", false, "/marketsummary", "gainer"),
  /** Buys what the quotes page showed. */
  BUY("buy", "has been submitted"),
  /** Sells one of the holdings listed. */
  SELL("sell", "has been submitted"),
  /** Changes the profile. */
  UPDATE_PROFILE("update-profile", "Account profile update successful"),
  /** Looks at the form for new users. */
  REGISTER_PAGE("register-page", false, "/register.jsp", "DayTrader Registration"),
  /** Becomes a new user. */
  REGISTER("register", "Welcome to DayTrader"),
  /** Ends the session. */
  LOGOUT("logout", "DayTrader Login"),
  /** Looks at the log-in page of the Faces front end. */
  FACES_WELCOME("faces-welcome", true, "/welcome.faces", "ViewState"),
  /** Logs in there. */
  FACES_LOGIN("faces-login", true, "/welcome.faces", "Ready to Trade"),
  /** Opens the page of quotes. */
  FACES_QUOTE_PAGE("faces-quote-page", false, "/quote.faces", "DayTrader Quotes"),
  /** Asks for another quote. */
  FACES_QUOTES("faces-quotes", true, "/quote.faces", "DayTrader Quotes"),
  /** Buys of the first quote shown. */
  FACES_BUY("faces-buy", true, "/quote.faces", "been submitted"),
  /** Looks at the home page. */
  FACES_HOME("faces-home", false, "/tradehome.faces", "DayTrader Home"),
  /** Lists the holdings. */
  FACES_PORTFOLIO("faces-portfolio", false, "/portfolio.faces", "DayTrader Portfolio"),
  /** Sells the first of the holdings listed. */
  FACES_SELL("faces-sell", true, "/portfolio.faces", "been submitted"),
  /** Looks at the account. */
  FACES_ACCOUNT("faces-account", false, "/account.faces", "DayTrader Account"),
  /** Changes the profile. */
  FACES_UPDATE_PROFILE(
      "faces-update-profile", true, "/account.faces", "Account profile update successful"),
  /** Looks at the form for new users. */
  FACES_REGISTER_PAGE("faces-register-page", false, "/register.faces", "DayTrader Register"),
  /** Becomes a new user. */
  FACES_REGISTER("faces-register", true, "/register.faces", "Registration operation succeeded"),
  /** Ends the session. */
  FACES_LOGOUT("faces-logout", true, "/tradehome.faces", "DayTrader Login");

  /** All, by their index. */
  public static final List<TradeStep> ALL = List.of(values());

  private final String operation;
  private final boolean post;
  private final String path;
  private final String text;

  TradeStep(String operation, String text) {
    this(operation, false, "/app", text);
  }

  TradeStep(String operation, boolean post, String path, String text) {
    this.operation = operation;
    this.post = post;
    this.path = path;
    this.text = text;
  }

  /** Name in settings, logs and reports. */
  public String operation() {
    return operation;
  }

  /** Whether it is a POST with a form; else a GET with a query. */
  public boolean post() {
    return post;
  }

  /** Below the application's context root. */
  public String path() {
    return path;
  }

  /** What its answer must show. */
  String text() {
    return text;
  }

  boolean faces() {
    return path.endsWith(".faces");
  }
}
