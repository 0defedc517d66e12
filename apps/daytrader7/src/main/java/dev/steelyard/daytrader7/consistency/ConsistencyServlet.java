// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.consistency;

import dev.steelyard.bench.database.Database;
import dev.steelyard.bench.database.Invariant;
import dev.steelyard.daytrader7.RunMode;
import dev.steelyard.daytrader7.TradeConfig;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * {@code /consistency}: {@code consistent}, or a line for each {@link Invariant} that does not
 * hold, with the number of rows. Meant for a time without load; it waits a while for orders that
 * are under way.
 */
@WebServlet("/consistency")
public final class ConsistencyServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  /**
   * An order of a managed thread takes half a second, one of a queue as long as those before it.
   */
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(15);

  private static final long POLL_MILLIS = 200;

  @Inject private transient Database database;
  @Inject private transient TradeConfig config;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    awaitOrders();
    boolean history = config.runMode() != RunMode.EJB || !config.longRun();
    List<Invariant> invariants = new ArrayList<>(TradeInvariants.ALWAYS);
    if (history) {
      invariants.addAll(TradeInvariants.OF_HISTORY);
    }
    response.setContentType("text/plain;charset=UTF-8");
    response.getWriter().print(Invariant.report(database, invariants));
  }

  private void awaitOrders() {
    long limit = System.nanoTime() + PATIENCE;
    while (TradeInvariants.NO_OPEN_ORDERS.rows(database) > 0 && System.nanoTime() < limit) {
      try {
        Thread.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
