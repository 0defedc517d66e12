// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import dev.steelyard.bench.database.Database;
import dev.steelyard.daytrader7.Prices;
import dev.steelyard.daytrader7.direct.TradeDirect;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/** Servlets that use the database by JDBC. */
@WebServlet({
  "/servlet/PingJDBCRead",
  "/servlet/PingJDBCRead2JSP",
  "/servlet/PingJDBCWrite",
  "/servlet/PingServlet2DB"
})
public class DatabasePrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  private static final double SHARES = 100;

  @Inject private transient TradeDirect trade;
  @Inject private transient Database database;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    switch (name) {
      case "PingJDBCRead" -> show(response, name, repeated(() -> trade.quote(randomSymbol())));
      case "PingJDBCRead2JSP" ->
          forward(request, response, name, repeated(() -> trade.quote(randomSymbol())));
      case "PingJDBCWrite" -> show(response, name, repeated(this::changed));
      default -> show(response, name, database.run(connection -> "A connection of the pool"));
    }
  }

  private Object changed() {
    return trade.updateQuotePriceVolume(
        randomSymbol(), Prices.changeFactor(random()), SHARES, false);
  }
}
