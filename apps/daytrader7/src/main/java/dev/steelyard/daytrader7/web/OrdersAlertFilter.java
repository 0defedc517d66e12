// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.bench.Workload;
import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.entities.TradeOrder;
import jakarta.inject.Inject;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.List;

/**
 * Finds the user's closed orders, of which the page that follows tells. Where they cannot be read
 * the request has failed: it is not answered by a page that leaves them out.
 */
@WebFilter("/app")
public final class OrdersAlertFilter extends HttpFilter {

  private static final long serialVersionUID = 1L;

  @Inject transient Trade trade;
  @Inject transient TradeConfig config;

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    String userID = config.displayOrderAlerts() ? user(request) : null;
    if (userID != null) {
      try {
        List<TradeOrder> closed = trade.closedOrders(userID);
        if (!closed.isEmpty()) {
          request.setAttribute(Page.CLOSED_ORDERS, closed);
        }
      } catch (RuntimeException e) {
        TradeWorkload.operationOf(request.getParameter("action"))
            .ifPresent(operation -> request.setAttribute(Workload.OPERATION, operation));
        AppServlet.fail(response, e);
        return;
      }
    }
    chain.doFilter(request, response);
  }

  private static String user(HttpServletRequest request) {
    String action = request.getParameter("action");
    if (action == null || action.equals("logout")) {
      return null;
    }
    if (action.equals("login")) {
      return request.getParameter("uid");
    }
    HttpSession session = request.getSession(false);
    return session == null ? null : (String) session.getAttribute(AppServlet.USER);
  }
}
