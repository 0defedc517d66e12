// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.data.Populate;
import dev.steelyard.daytrader7.data.Tables;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Objects;

/** Administration. */
@WebServlet("/config")
public final class ConfigServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  @Inject private transient Populate populate;
  @Inject private transient Tables tables;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setContentType("text/html");
    PrintWriter out = response.getWriter();
    switch (Objects.requireNonNullElse(request.getParameter("action"), "")) {
      case "buildDB" -> populate.run(line -> out.println(line + "<BR>"));
      case "buildDBTables" -> tables.make();
      default -> out.println("<TITLE>Welcome to DayTrader</TITLE>");
    }
  }
}
