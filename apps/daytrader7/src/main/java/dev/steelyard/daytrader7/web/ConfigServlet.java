// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.ConfigSetting;
import dev.steelyard.daytrader7.RunStatistics;
import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.data.Populate;
import dev.steelyard.daytrader7.data.Tables;
import dev.steelyard.daytrader7.messages.MessageStatistics;
import jakarta.inject.Inject;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.logging.Level;
import java.util.logging.Logger;

/** {@code /config}: settings, tables, data and resets. */
@WebServlet("/config")
public final class ConfigServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;
  private static final Logger LOG = Logger.getLogger(ConfigServlet.class.getName());

  @Inject private transient MessageStatistics messages;
  @Inject private transient Populate populate;
  @Inject private transient ScenarioState scenario;
  @Inject private transient Tables tables;
  @Inject private transient Trade trade;
  @Inject private transient TradeConfig config;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    response.setContentType("text/html");
    String action = Objects.requireNonNullElse(request.getParameter("action"), "");
    try {
      switch (action) {
        case "updateConfig" -> {
          update(request);
          show(request, response, "DayTrader Configuration Updated");
        }
        case "resetTrade" -> reset(request, response);
        case "buildDBTables" -> buildTables(request, response);
        case "buildDB" -> build(request, response);
        default -> show(request, response, "");
      }
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "Failed: " + action, e);
      String message = "The action " + action + " failed: " + e.getMessage();
      if (response.isCommitted()) {
        response.getWriter().println("<BR>" + Html.text(message));
      } else {
        response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR, message);
      }
    }
  }

  /** An absent checkbox is switched off; what is no value is left as it was. */
  private void update(HttpServletRequest request) {
    for (ConfigSetting setting : ConfigSetting.values()) {
      String text = request.getParameter(setting.parameter());
      boolean checkbox = setting.checkbox(config);
      if (checkbox || text != null) {
        try {
          setting.set(config, checkbox ? String.valueOf(text != null) : text);
        } catch (IllegalArgumentException e) {
          LOG.log(Level.WARNING, "Ignored: {0}", e.getMessage());
        }
      }
    }
  }

  private void reset(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    RunStatistics statistics = trade.resetTrade();
    long requests = scenario.requests();
    scenario.clearRequests();
    messages.clear();
    request.setAttribute("settings", config);
    request.setAttribute("requests", requests);
    Page.STATISTICS.show(
        request, response, config.webInterface(), statistics, "Trade Reset completed successfully");
  }

  private void buildTables(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    PrintWriter out = begin(response, "Building DayTrader Tables");
    line(out, "Database Product detected: " + tables.product());
    tables.make().forEach(each -> line(out, each));
    line(out, "DayTrader tables successfully created!");
    line(out, "Please restart the application, then populate the tables.");
    show(request, response, "");
  }

  private void build(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    PrintWriter out = begin(response, "Building the DayTrader database");
    String hash = populate.run(each -> line(out, each));
    line(out, "The data set is " + hash + ".");
    show(request, response, "DayTrader Database Built - " + config.maxUsers() + "users created");
  }

  private static PrintWriter begin(HttpServletResponse response, String title) throws IOException {
    PrintWriter out = response.getWriter();
    out.println("<HTML><HEAD><TITLE>" + title + "</TITLE></HEAD><BODY>");
    return out;
  }

  /** Sent on at once: there is somebody who waits. */
  private static void line(PrintWriter out, String text) {
    out.println(Html.text(text) + "<BR>");
    out.flush();
  }

  private void show(HttpServletRequest request, HttpServletResponse response, String results)
      throws IOException, ServletException {
    Page.CONFIG.show(request, response, config.webInterface(), config, results);
  }
}
