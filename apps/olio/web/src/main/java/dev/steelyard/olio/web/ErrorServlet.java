// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import jakarta.inject.Inject;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * The page of whatever leaves the application as an exception, and of what the server refuses
 * before it comes here: {@code web.xml} names it. The server's own page would show a stack trace.
 */
public final class ErrorServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  @Inject private transient PageLayout layout;

  /** Whatever the method that was refused. */
  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (request.getDispatcherType() != DispatcherType.ERROR) {
      response.setStatus(HttpServletResponse.SC_NOT_FOUND);
    }
    layout.error(request, response, sentence(response.getStatus()));
  }

  private static String sentence(int status) {
    return switch (status) {
      case HttpServletResponse.SC_BAD_REQUEST -> "The request cannot be read.";
      case HttpServletResponse.SC_NOT_FOUND -> "There is no such page.";
      case HttpServletResponse.SC_METHOD_NOT_ALLOWED -> "There is a page, but not for this method.";
      default -> Route.FAILED;
    };
  }
}
