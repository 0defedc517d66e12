// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/** Servlets that include or forward to another part of the application. */
@WebServlet({
  "/servlet/PingServlet2Include",
  "/servlet/PingServlet2IncludeRcv",
  "/servlet/PingServlet2Servlet",
  "/servlet/PingServlet2ServletRcv",
  "/servlet/PingServlet2Jsp"
})
public class DispatchPrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    switch (name) {
      case "PingServlet2Include" -> {
        repeated(
            () -> {
              request
                  .getRequestDispatcher("/servlet/PingServlet2IncludeRcv")
                  .include(request, response);
              return null;
            });
        show(response, name, "Included as often as the configuration says");
      }
      case "PingServlet2Servlet" -> {
        request.setAttribute("message", "A bean of " + name);
        request.getRequestDispatcher("/servlet/PingServlet2ServletRcv").forward(request, response);
      }
      case "PingServlet2ServletRcv" ->
          show(response, "PingServlet2Servlet", request.getAttribute("message"));
      case "PingServlet2Jsp" -> forward(request, response, name, "A bean of " + name);
      default -> {
        // What is included writes nothing.
      }
    }
  }
}
