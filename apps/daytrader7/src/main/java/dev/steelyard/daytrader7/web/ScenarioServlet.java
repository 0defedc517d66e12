// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.entities.Holding;
import jakarta.inject.Inject;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A driver in the server: each request does what a user might do next, by including {@code /app}.
 */
@WebServlet("/scenario")
public final class ScenarioServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  /** The mix: the letters of the operations, each as many times as its percent. */
  private static final String MIX =
      "h".repeat(20)
          + "q".repeat(40)
          + "o".repeat(4)
          + "r".repeat(2)
          + "a".repeat(10)
          + "p".repeat(12)
          + "b".repeat(4)
          + "s".repeat(4)
          + "u".repeat(4);

  private static final String HOST = host();

  /** Bytes for the pages of a registration. */
  private static final int LOGOUT_AND_HOME = 32 * 1024;

  @Inject private transient ScenarioState state;
  @Inject private transient TradeConfig config;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    response.setContentType("text/html");
    state.countRequest();
    String asked = request.getParameter("action");
    Random random = ThreadLocalRandom.current();
    char operation =
        asked == null || asked.isEmpty()
            ? MIX.charAt(random.nextInt(MIX.length()))
            : asked.charAt(0);
    if (operation == 'n') {
      response
          .getWriter()
          .print("<HTML><HEAD><TITLE>Scenario</TITLE></HEAD><BODY>Hello</BODY></HTML>");
      return;
    }
    HttpSession session = request.getSession(true);
    String userID = (String) session.getAttribute(AppServlet.USER);
    try {
      perform(userID == null ? 'l' : operation, userID, random, request, response);
    } catch (RuntimeException e) {
      AppServlet.fail(response, e);
    }
  }

  private void perform(
      char operation,
      String userID,
      Random random,
      HttpServletRequest request,
      HttpServletResponse response)
      throws IOException, ServletException {
    switch (operation) {
      case 'h' -> app(request, response, "home");
      case 'q' -> app(request, response, "quotes", "symbols", symbols(random));
      case 'l' -> app(request, response, "login", "uid", state.nextUser(), "passwd", "xxx");
      case 'o' -> app(request, response, "logout");
      case 'r' -> register(request, response);
      case 'a' -> app(request, response, "account");
      case 'p' -> app(request, response, "portfolio");
      case 'b' -> {
        if (userID.startsWith("uid:") && state.takeASell()) {
          sell(userID, random, request, response);
        } else {
          buy(random, request, response);
        }
      }
      case 's' -> sell(userID, random, request, response);
      case 'u' -> update(userID, request, response);
      default -> app(request, response, "home");
    }
  }

  private void buy(Random random, HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    String symbol = symbol(random);
    app(request, response, "quotes", "symbols", symbol);
    String quantity = String.valueOf(1 + random.nextInt(200));
    app(request, response, "buy", "symbol", symbol, "quantity", quantity);
  }

  private void sell(
      String userID, Random random, HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    app(request, response, "portfolio");
    @SuppressWarnings("unchecked")
    List<Holding> holdings = (List<Holding>) request.getAttribute(TradeActions.HOLDINGS);
    for (Holding holding : holdings) {
      // Being sold already, where the date is the epoch.
      if (holding.getPurchaseDate().getTime() != 0) {
        app(request, response, "sell", "holdingID", holding.getHoldingID().toString());
        return;
      }
    }
    if (userID.startsWith("uid:")) {
      state.owesASell();
    }
    buy(random, request, response);
  }

  private void register(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    // The new user's session begins after a page has been written, which must not be under way yet.
    response.setBufferSize(LOGOUT_AND_HOME);
    app(request, response, "logout");
    String userID = "ru:" + HOST + System.currentTimeMillis() + state.nextRegistered();
    app(
        request,
        response,
        "register",
        "Full Name",
        "first:" + userID,
        "snail mail",
        "1 Main St.",
        "email",
        userID + "@example.org",
        "user id",
        userID,
        "passwd",
        "yyy",
        "confirm passwd",
        "yyy",
        "money",
        "1000000",
        "Credit Card Number",
        "123-fake-ccnum-456");
  }

  private static void update(
      String userID, HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    app(request, response, "account");
    app(
        request,
        response,
        "update_profile",
        "userID",
        userID,
        "fullname",
        "rnd" + System.currentTimeMillis(),
        "password",
        "xxx",
        "cpassword",
        "xxx",
        "address",
        "rndAddress",
        "creditcard",
        "rndCC",
        "email",
        "rndEmail");
  }

  private String symbols(Random random) {
    StringBuilder symbols = new StringBuilder(symbol(random));
    for (int more = random.nextInt(TradeConfig.QUOTES_PER_PAGE); more > 0; more--) {
      symbols.append(',').append(symbol(random));
    }
    return symbols.toString();
  }

  /** Any but the last, as the original draws them. */
  private String symbol(Random random) {
    return "s:" + random.nextInt(Math.max(1, config.maxQuotes() - 1));
  }

  private static void app(
      HttpServletRequest request, HttpServletResponse response, String action, String... parameters)
      throws IOException, ServletException {
    StringBuilder path = new StringBuilder("/app?action=").append(action);
    for (int i = 0; i < parameters.length; i += 2) {
      path.append('&')
          .append(encoded(parameters[i]))
          .append('=')
          .append(encoded(parameters[i + 1]));
    }
    request.getRequestDispatcher(path.toString()).include(request, response);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "host";
    }
  }
}
