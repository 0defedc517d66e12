// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.WebInterface;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** The Pages, and the names under which they find what they are to show. */
public enum Page {
  LOGIN("login", "DayTrader Login"),
  REGISTER("register", "DayTrader Registration"),
  HOME("home", "Welcome to DayTrader"),
  ACCOUNT("account", "DayTrader Account Information"),
  PORTFOLIO("portfolio", "DayTrader Portfolio"),
  QUOTES("quotes", "DayTrader: Quotes and Trading"),
  ORDER("order", "DayTrader Order information"),
  MARKET_SUMMARY("mksummary", "DayTrader Market Summary"),
  CONFIG("config", "Welcome to DayTrader"),
  STATISTICS("statistics", "Welcome to Trade");

  /** A sentence about what was done. */
  public static final String RESULTS = "results";

  /** The orders of which the user is to be told. */
  public static final String CLOSED_ORDERS = "closedOrders";

  /** What the page is about. */
  public static final String VIEW = "view";

  static final String TITLE = "title";
  static final String IMAGES = "images";

  private final String path;
  private final String title;

  Page(String name, String title) {
    path = "/WEB-INF/pages/" + name + ".jsp";
    this.title = title;
  }

  /** Includes it: what includes may be a part of a longer answer. */
  void show(
      HttpServletRequest request,
      HttpServletResponse response,
      WebInterface pages,
      Object view,
      String results)
      throws IOException, ServletException {
    request.setAttribute(VIEW, view);
    request.setAttribute(RESULTS, results);
    request.setAttribute(TITLE, title);
    request.setAttribute(IMAGES, pages == WebInterface.JSP_IMAGES);
    request.getRequestDispatcher(path).include(request, response);
  }
}
