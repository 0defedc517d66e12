// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.daytrader7.beans.TradeLocal;
import dev.steelyard.daytrader7.direct.TradeDirect;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import jakarta.ejb.EJB;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * What pages use: hands each operation to what the run-time mode names, and changes the price of a
 * stock after it was traded.
 */
@ApplicationScoped
public class Trade {

  private static final Logger LOG = Logger.getLogger(Trade.class.getName());

  private static final double MOST_SHARES = 1e9;

  @EJB private TradeLocal bean;
  @Inject private TradeDirect direct;
  @Inject private OrderThreads threads;
  @Inject private TradeConfig config;

  private TradeServices services() {
    return config.runMode() == RunMode.EJB ? bean : direct;
  }

  /** As {@link TradeServices#marketSummary()}. */
  public MarketSummary marketSummary() {
    return services().marketSummary();
  }

  /** Buys in the current order mode and changes the price. */
  public TradeOrder buy(String userID, String symbol, double quantity) {
    if (!(quantity > 0 && quantity <= MOST_SHARES)) {
      throw new TradeException("The quantity of shares must be above zero and at most a billion.");
    }
    TradeServices services = services();
    OrderMode mode = config.orderMode();
    return ordered(services, mode, services.buy(userID, symbol, quantity, mode));
  }

  /** Sells in the current order mode and changes the price, unless the holding is gone. */
  public TradeOrder sell(String userID, int holdingID) {
    TradeServices services = services();
    OrderMode mode = config.orderMode();
    return ordered(services, mode, services.sell(userID, holdingID, mode));
  }

  /** What follows once an order is committed. It stands, whatever becomes of the price. */
  private TradeOrder ordered(TradeServices services, OrderMode mode, TradeOrder order) {
    if (order.isCancelled()) {
      return order;
    }
    if (mode == OrderMode.ASYNC_MANAGED_THREAD) {
      threads.completeLater(services, order.getOrderID());
    }
    try {
      services.updateQuotePriceVolume(
          order.getSymbol(),
          Prices.changeFactor(ThreadLocalRandom.current()),
          order.getQuantity(),
          config.publishQuotePriceChange());
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "The price of " + order.getSymbol() + " stays as it was", e);
    }
    return order;
  }

  /** As {@link TradeServices#orders(String)}. */
  public List<TradeOrder> orders(String userID) {
    return services().orders(userID);
  }

  /** As {@link TradeServices#closedOrders(String)}. */
  public List<TradeOrder> closedOrders(String userID) {
    return services().closedOrders(userID);
  }

  /** As {@link TradeServices#quote(String)}. */
  public Quote quote(String symbol) {
    return services().quote(symbol);
  }

  /** As {@link TradeServices#holdings(String)}. */
  public List<Holding> holdings(String userID) {
    return services().holdings(userID);
  }

  /** As {@link TradeServices#accountData(String)}. */
  public Account accountData(String userID) {
    return services().accountData(userID);
  }

  /** As {@link TradeServices#accountProfileData(String)}. */
  public AccountProfile accountProfileData(String userID) {
    return services().accountProfileData(userID);
  }

  /** As {@link TradeServices#updateAccountProfile(AccountProfile)}. */
  public AccountProfile updateAccountProfile(AccountProfile profile) {
    return services().updateAccountProfile(profile);
  }

  /** As {@link TradeServices#login(String, String)}. */
  public Account login(String userID, String password) {
    return services().login(userID, password);
  }

  /** As {@link TradeServices#logout(String)}. */
  public void logout(String userID) {
    services().logout(userID);
  }

  /** As {@link TradeServices#register(AccountProfile, BigDecimal)}. */
  public Account register(AccountProfile profile, BigDecimal openBalance) {
    return services().register(profile, openBalance);
  }

  /** As {@link TradeServices#resetTrade()}. */
  public RunStatistics resetTrade() {
    return direct.resetTrade();
  }
}
