// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.LoginException;
import dev.steelyard.daytrader7.RunMode;
import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.TradeOrder;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;
import java.util.stream.Stream;

/** The actions of {@code /app}: parameters, operations, and the page that shows what came of it. */
@ApplicationScoped
public class TradeActions {

  /** The request's attribute with the holdings that a portfolio showed. */
  public static final String HOLDINGS = "holdings";

  private static final int ORDERS_SHOWN = 5;
  private static final int LONGEST_SYMBOL = 10;

  @Inject Trade trade;
  @Inject TradeConfig config;

  void loginPage(HttpServletRequest request, HttpServletResponse response, String results)
      throws IOException, ServletException {
    show(Page.LOGIN, request, response, null, results);
  }

  void login(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    String userID = request.getParameter("uid");
    try {
      begin(request, response, userID, request.getParameter("passwd"), "Ready to Trade");
    } catch (LoginException e) {
      if (config.runMode() == RunMode.EJB) {
        throw e;
      }
      loginPage(request, response, "Could not find account. " + e.getMessage());
    }
  }

  private void begin(
      HttpServletRequest request,
      HttpServletResponse response,
      String userID,
      String password,
      String results)
      throws IOException, ServletException {
    trade.login(userID, password);
    HttpSession session = request.getSession(true);
    session.setAttribute(AppServlet.USER, userID);
    session.setAttribute(AppServlet.SESSION_DATE, Instant.now());
    home(request, response, userID, results);
  }

  void register(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    String password = given(request, "passwd");
    if (!password.equals(given(request, "confirm passwd"))) {
      String sorry = "Registration operation failed, your passwords did not match";
      show(Page.REGISTER, request, response, null, sorry);
      return;
    }
    String userID = given(request, "user id");
    try {
      if (userID.isEmpty() || password.isEmpty()) {
        throw new TradeException("A user needs an id and a password.");
      }
      trade.register(
          new AccountProfile(
              userID,
              password,
              given(request, "Full Name"),
              given(request, "snail mail"),
              given(request, "email"),
              given(request, "Credit Card Number")),
          amount(given(request, "money")));
    } catch (TradeException e) {
      if (e.failedBelow()) {
        throw e;
      }
      String sorry = "Registration operation failed; " + e.getMessage();
      show(Page.REGISTER, request, response, null, sorry);
      return;
    }
    begin(request, response, userID, password, "Registration operation succeeded; Account created");
  }

  private static BigDecimal amount(String text) {
    try {
      return new BigDecimal(text);
    } catch (NumberFormatException e) {
      throw new TradeException("The opening balance must be a number.");
    }
  }

  void home(HttpServletRequest request, HttpServletResponse response, String userID, String results)
      throws IOException, ServletException {
    Account account = trade.accountData(userID);
    List<Holding> holdings = trade.holdings(userID);
    HttpSession session = request.getSession(false);
    Instant since =
        session == null ? null : (Instant) session.getAttribute(AppServlet.SESSION_DATE);
    Views.Home view = new Views.Home(userID, account, since, holdings.size(), Gain.cost(holdings));
    show(Page.HOME, request, response, view, results);
  }

  void account(
      HttpServletRequest request, HttpServletResponse response, String userID, String results)
      throws IOException, ServletException {
    Account account = trade.accountData(userID);
    AccountProfile profile = trade.accountProfileData(userID);
    List<TradeOrder> orders = config.longRun() ? List.of() : trade.orders(userID);
    boolean all = request.getParameter("showAllOrders") != null;
    List<TradeOrder> shown =
        orders.stream()
            .sorted(TradeOrder.NEWEST_FIRST)
            .limit(all ? orders.size() : ORDERS_SHOWN)
            .toList();
    Views.AccountInformation view =
        new Views.AccountInformation(userID, account, profile, shown, shown.size() < orders.size());
    show(Page.ACCOUNT, request, response, view, results);
  }

  void updateProfile(HttpServletRequest request, HttpServletResponse response, String userID)
      throws IOException, ServletException {
    String password = given(request, "password");
    String fullName = given(request, "fullname");
    String address = given(request, "address");
    String card = given(request, "creditcard");
    String email = given(request, "email");
    String results;
    if (!password.equals(given(request, "cpassword"))) {
      results = "Update profile error: passwords do not match";
    } else if (Stream.of(password, fullName, address, card, email).anyMatch(String::isEmpty)) {
      results = "Update profile error: please fill in all profile information fields";
    } else {
      trade.updateAccountProfile(
          new AccountProfile(userID, password, fullName, address, email, card));
      results = "Account profile update successful";
    }
    account(request, response, userID, results);
  }

  void portfolio(HttpServletRequest request, HttpServletResponse response, String userID)
      throws IOException, ServletException {
    List<Holding> holdings = trade.holdings(userID);
    List<Views.Position> positions = new ArrayList<>(holdings.size());
    for (Holding holding : holdings) {
      positions.add(new Views.Position(holding, trade.quote(holding.getQuoteID())));
    }
    request.setAttribute(HOLDINGS, holdings);
    show(Page.PORTFOLIO, request, response, new Views.Portfolio(positions), "");
  }

  void quotes(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    String symbols = request.getParameter("symbols");
    List<Views.Asked> asked = new ArrayList<>();
    if (symbols == null) {
      asked.add(new Views.Asked(null, null));
    } else {
      StringTokenizer tokens = new StringTokenizer(symbols, " ,");
      while (tokens.hasMoreTokens()) {
        String symbol = tokens.nextToken();
        boolean possible = symbol.length() <= LONGEST_SYMBOL;
        asked.add(new Views.Asked(symbol, possible ? trade.quote(symbol) : null));
      }
    }
    show(Page.QUOTES, request, response, asked, "");
  }

  void buy(HttpServletRequest request, HttpServletResponse response, String userID)
      throws IOException, ServletException {
    double quantity;
    try {
      quantity = Double.parseDouble(given(request, "quantity"));
    } catch (NumberFormatException e) {
      throw new TradeException("The quantity of shares must be a number above zero.");
    }
    TradeOrder order = trade.buy(userID, request.getParameter("symbol"), quantity);
    show(Page.ORDER, request, response, order, "");
  }

  void sell(HttpServletRequest request, HttpServletResponse response, String userID)
      throws IOException, ServletException {
    int holdingID;
    try {
      holdingID = Integer.parseInt(given(request, "holdingID"));
    } catch (NumberFormatException e) {
      throw new TradeException("The holding to be sold must be given by its number.");
    }
    show(Page.ORDER, request, response, trade.sell(userID, holdingID), "");
  }

  void marketSummary(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    show(Page.MARKET_SUMMARY, request, response, null, "");
  }

  void logout(HttpServletRequest request, HttpServletResponse response, String userID)
      throws IOException, ServletException {
    trade.logout(userID);
    HttpSession session = request.getSession(false);
    if (session != null) {
      session.invalidate();
    }
    loginPage(request, response, "");
  }

  private void show(
      Page page,
      HttpServletRequest request,
      HttpServletResponse response,
      Object view,
      String results)
      throws IOException, ServletException {
    page.show(request, response, config.webInterface(), view, results);
  }

  private static String given(HttpServletRequest request, String name) {
    String value = request.getParameter(name);
    return value == null ? "" : value.strip();
  }
}
