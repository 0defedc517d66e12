// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.TradeOrder;
import dev.steelyard.daytrader7.web.Gain;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.util.List;

/** The account, what it owns, and the orders to be told of: read for each page, shown or not. */
@Named("account")
@RequestScoped
public class AccountBean {

  private static final int RECENT_ORDERS = 5;

  @Inject private Trade trade;
  @Inject private TradeConfig config;

  private final Timestamp now = new Timestamp(System.currentTimeMillis());
  private Account data;
  private List<Holding> holdings;
  private List<TradeOrder> closedOrders;
  private List<TradeOrder> recentOrders;

  /** Reads the account. */
  @PostConstruct
  void begin() {
    String user = Page.userId();
    data = trade.accountData(user);
    holdings = trade.holdings(user);
    closedOrders = config.displayOrderAlerts() ? trade.closedOrders(user) : List.of();
  }

  public Timestamp getNow() {
    return now;
  }

  public Account getData() {
    return data;
  }

  public List<Holding> getHoldings() {
    return holdings;
  }

  public List<TradeOrder> getClosedOrders() {
    return closedOrders;
  }

  /** The orders of the account's page: none in a long run, which they would slow down. */
  public List<TradeOrder> getRecentOrders() {
    if (recentOrders == null) {
      recentOrders =
          config.longRun()
              ? List.of()
              : trade.orders(Page.userId()).stream()
                  .sorted(TradeOrder.NEWEST_FIRST)
                  .limit(RECENT_ORDERS)
                  .toList();
    }
    return recentOrders;
  }

  /** What was paid for all holdings. */
  public BigDecimal getHoldingsTotal() {
    return Gain.cost(holdings);
  }

  /** Cash and holdings. */
  public BigDecimal getSum() {
    return data.getBalance().add(getHoldingsTotal());
  }

  /** What the account has gained since it was opened. */
  public Gain getGain() {
    return Gain.of(data.getOpenBalance(), getSum());
  }
}
