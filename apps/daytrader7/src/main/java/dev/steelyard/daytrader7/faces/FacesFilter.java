// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.web.AppServlet;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.regex.Pattern;

/**
 * Around every Faces page: sends those who are not logged in to the login page, and translates the
 * parameters of older drivers.
 */
@WebFilter({"*.faces", "*.xhtml", "*.jsf", "/faces/*"})
public class FacesFilter extends HttpFilter {

  private static final long serialVersionUID = 1L;

  private static final Pattern FOR_USERS =
      Pattern.compile("home|account|portfolio|quote|order|marketSummary");

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    String path = request.getRequestURI().substring(request.getContextPath().length());
    if (FOR_USERS.matcher(path).find() && !loggedIn(request)) {
      response.sendRedirect("welcome.faces");
    } else {
      chain.doFilter(OlderParameters.translated(request), response);
    }
  }

  private static boolean loggedIn(HttpServletRequest request) {
    HttpSession session = request.getSession(false);
    return session != null && session.getAttribute(AppServlet.USER) != null;
  }
}
