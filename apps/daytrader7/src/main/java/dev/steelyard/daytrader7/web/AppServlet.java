// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.Trade;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Objects;

/** Trading. */
@WebServlet("/app")
public final class AppServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  @Inject private transient Trade trade;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setContentType("text/html");
    String uid = request.getParameter("uid");
    if (Objects.equals(request.getParameter("action"), "login")) {
      trade.login(uid, request.getParameter("passwd"));
      request.getSession().setAttribute("uidBean", uid);
      response.getWriter().println("<TITLE>Welcome to DayTrader</TITLE>");
    } else if (Objects.equals(request.getParameter("action"), "buy")) {
      response
          .getWriter()
          .println(
              trade
                  .buy(
                      uid,
                      request.getParameter("symbol"),
                      Double.parseDouble(request.getParameter("quantity")))
                  .getOrderStatus());
    }
  }
}
