// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.bench.Workload;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.TradeException;
import jakarta.inject.Inject;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** {@code /app}: finds out what is asked for and by whom, and what to answer when it fails. */
@WebServlet("/app")
public final class AppServlet extends HttpServlet {

  /** The session's attribute with the user's id. */
  public static final String USER = "uidBean";

  /** The session's attribute with the date of the login. */
  public static final String SESSION_DATE = "sessionCreationDate";

  private static final long serialVersionUID = 1L;
  private static final Logger LOG = Logger.getLogger(AppServlet.class.getName());

  @Inject private transient TradeActions actions;
  @Inject private transient TradeConfig config;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    response.setContentType("text/html");
    if (config.actionTrace()) {
      LOG.log(Level.INFO, "action={0}", request.getParameter("action"));
    }
    try {
      perform(request, response);
    } catch (RuntimeException e) {
      // Who includes this hears of it.
      if (request.getDispatcherType() == DispatcherType.INCLUDE) {
        throw e;
      }
      fail(response, e);
    }
  }

  /** Answers with the page of errors. */
  static void fail(HttpServletResponse response, RuntimeException e) throws IOException {
    String message = "It could not be done; the log of the server says why.";
    if (e instanceof TradeException known && !known.failedBelow()) {
      message = e.getMessage();
    } else {
      LOG.log(Level.WARNING, "A request failed", e);
    }
    response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR, message);
  }

  private void perform(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    String action = request.getParameter("action");
    if (action == null) {
      actions.loginPage(request, response, "");
      return;
    }
    if (request.getDispatcherType() == DispatcherType.REQUEST) {
      TradeWorkload.operationOf(action)
          .ifPresent(operation -> request.setAttribute(Workload.OPERATION, operation));
    }
    switch (action) {
      case "login" -> actions.login(request, response);
      case "register" -> actions.register(request, response);
      default -> {
        HttpSession session = request.getSession(false);
        String userID = session == null ? null : (String) session.getAttribute(USER);
        if (userID == null) {
          actions.loginPage(request, response, "User Not Logged in");
        } else {
          perform(action, userID, request, response);
        }
      }
    }
  }

  private void perform(
      String action, String userID, HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    switch (action) {
      case "home" -> actions.home(request, response, userID, "Ready to Trade");
      case "account" -> actions.account(request, response, userID, "");
      case "update_profile" -> actions.updateProfile(request, response, userID);
      case "portfolio", "portfolioNoEdge" -> actions.portfolio(request, response, userID);
      case "quotes" -> actions.quotes(request, response);
      case "buy" -> actions.buy(request, response, userID);
      case "sell" -> actions.sell(request, response, userID);
      case "mksummary" -> actions.marketSummary(request, response);
      case "logout" -> actions.logout(request, response, userID);
      default -> actions.loginPage(request, response, "TradeAppServlet: Invalid Action" + action);
    }
  }
}
