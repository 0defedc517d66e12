// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import java.math.BigDecimal;
import java.util.List;

/**
 * The operations of a broker. Session beans and plain JDBC carry them out; {@link Trade} is what
 * pages use.
 *
 * <p>What cannot be done as asked is a {@link TradeException}.
 */
public interface TradeServices {

  /** Winners, losers and averages of all stocks. */
  MarketSummary marketSummary();

  /**
   * Buys shares at the current price.
   *
   * @return the order as the mode leaves it: closed, or still open
   */
  TradeOrder buy(String userID, String symbol, double quantity, OrderMode mode);

  /**
   * Sells all shares of a holding at the current price.
   *
   * @return the order as the mode leaves it: closed, still open, or cancelled because the holding
   *     is gone
   */
  TradeOrder sell(String userID, int holdingID, OrderMode mode);

  /** Sends the message after which the order is completed. */
  void queueOrder(int orderID, boolean twoPhase);

  /**
   * Completes an open order: shares come into being, or cease to.
   *
   * @throws TradeException if the order is not there or not open
   */
  TradeOrder completeOrder(int orderID, boolean twoPhase);

  /** Told after an order of the user was completed; does nothing. */
  default void orderCompleted(String userID, int orderID) {}

  /** The user's orders, in no order. */
  List<TradeOrder> orders(String userID);

  /** The user's closed orders, each of which is told once. */
  List<TradeOrder> closedOrders(String userID);

  /** A stock, or null. */
  Quote quote(String symbol);

  /**
   * Changes the price of a stock by a factor and adds the shares to its volume, and publishes that
   * if it is to be published.
   */
  Quote updateQuotePriceVolume(
      String symbol, BigDecimal changeFactor, double sharesTraded, boolean publish);

  /** What the user owns, in no order. */
  List<Holding> holdings(String userID);

  /** The user's account. */
  Account accountData(String userID);

  /** The user's profile. */
  AccountProfile accountProfileData(String userID);

  /** Stores all texts of the profile. */
  AccountProfile updateAccountProfile(AccountProfile profile);

  /**
   * Counts the login.
   *
   * @throws LoginException for an unknown user or a wrong password
   */
  Account login(String userID, String password);

  /** Counts the logout. */
  void logout(String userID);

  /** Makes an account. */
  Account register(AccountProfile profile, BigDecimal openBalance);

  /** Removes what runs left behind and tells what they did. */
  RunStatistics resetTrade();
}
