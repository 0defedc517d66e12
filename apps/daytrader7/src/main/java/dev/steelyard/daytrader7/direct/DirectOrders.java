// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import static dev.steelyard.bench.database.Database.one;
import static dev.steelyard.bench.database.Database.update;

import dev.steelyard.bench.database.Database;
import dev.steelyard.daytrader7.Prices;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.function.ObjIntConsumer;

/** The statements that make an order, and those that complete it. */
@ApplicationScoped
public class DirectOrders {

  private static final Timestamp BEING_SOLD = new Timestamp(0);

  @Inject private Database database;
  @Inject private Keys keys;

  /** Makes an open order to buy. */
  void buy(Connection connection, int orderID, String userID, String symbol, double quantity)
      throws SQLException {
    Account account = Lookups.lockedAccount(connection, database.dialect(), userID);
    Quote quote = Lookups.quote(connection, symbol);
    if (quote == null) {
      throw new TradeException("There is no stock " + symbol + ".");
    }
    insertOrder(connection, orderID, account, quote, null, TradeOrder.BUY, quantity);
    charge(connection, account, Prices.costOfBuy(quote.getPrice(), quantity).negate());
  }

  /**
   * Makes an open order to sell; a cancelled one if the holding is gone.
   *
   * @return whether it is open
   */
  boolean sell(Connection connection, int orderID, String userID, int holdingID)
      throws SQLException {
    Account account = Lookups.lockedAccount(connection, database.dialect(), userID);
    Holding holding =
        one(
            connection,
            Rows::holding,
            database
                .dialect()
                .locked("SELECT * FROM HOLDINGEJB WHERE HOLDINGID = ? AND ACCOUNT_ACCOUNTID = ?"),
            holdingID,
            account.getAccountID());
    if (holding == null || holding.getPurchaseDate().equals(BEING_SOLD)) {
      insertCancelled(connection, orderID);
      return false;
    }
    Quote quote = Lookups.quote(connection, holding.getQuoteID());
    update(
        connection,
        "UPDATE HOLDINGEJB SET PURCHASEDATE = ? WHERE HOLDINGID = ?",
        BEING_SOLD,
        holdingID);
    double quantity = holding.getQuantity();
    insertOrder(connection, orderID, account, quote, holdingID, TradeOrder.SELL, quantity);
    charge(connection, account, Prices.proceedsOfSell(quote.getPrice(), quantity));
    return true;
  }

  private void insertOrder(
      Connection connection,
      int orderID,
      Account account,
      Quote quote,
      Integer holdingID,
      String type,
      double quantity)
      throws SQLException {
    String columns =
        "ORDERID, ORDERTYPE, ORDERSTATUS, OPENDATE, QUANTITY, PRICE, ORDERFEE,"
            + " ACCOUNT_ACCOUNTID, QUOTE_SYMBOL";
    Timestamp now = now();
    BigDecimal price = Prices.cents(quote.getPrice());
    if (holdingID == null) {
      update(
          connection,
          "INSERT INTO ORDEREJB (" + columns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
          orderID,
          type,
          TradeOrder.OPEN,
          now,
          quantity,
          price,
          Prices.FEE,
          account.getAccountID(),
          quote.getSymbol());
    } else {
      update(
          connection,
          "INSERT INTO ORDEREJB ("
              + columns
              + ", HOLDING_HOLDINGID) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          orderID,
          type,
          TradeOrder.OPEN,
          now,
          quantity,
          price,
          Prices.FEE,
          account.getAccountID(),
          quote.getSymbol(),
          holdingID);
    }
    Lookups.order(connection, orderID);
  }

  /** What is left of a sell whose holding is gone: an order of nobody's. */
  private static void insertCancelled(Connection connection, int orderID) throws SQLException {
    Timestamp now = now();
    update(
        connection,
        "INSERT INTO ORDEREJB (ORDERID, ORDERTYPE, ORDERSTATUS, OPENDATE, COMPLETIONDATE,"
            + " QUANTITY, PRICE, ORDERFEE) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        orderID,
        TradeOrder.SELL,
        TradeOrder.CANCELLED,
        now,
        now,
        0.0,
        BigDecimal.ZERO,
        Prices.FEE);
  }

  private static void charge(Connection connection, Account account, BigDecimal amount)
      throws SQLException {
    update(
        connection,
        "UPDATE ACCOUNTEJB SET BALANCE = ? WHERE ACCOUNTID = ?",
        Prices.cents(account.getBalance().add(amount)),
        account.getAccountID());
  }

  /**
   * Completes an open order.
   *
   * @param completed is told the user and the order
   * @throws TradeException if it is not there or not open
   */
  TradeOrder complete(Connection connection, int orderID, ObjIntConsumer<String> completed)
      throws SQLException {
    // An order with the numbers that it refers to.
    record Referring(TradeOrder order, int accountID, int holdingID) {}
    Referring found =
        one(
            connection,
            row ->
                new Referring(
                    Rows.order(row),
                    row.getInt("ACCOUNT_ACCOUNTID"),
                    row.getInt("HOLDING_HOLDINGID")),
            Lookups.ORDER,
            orderID);
    if (found == null) {
      throw new TradeException("There is no order " + orderID + ".");
    }
    TradeOrder order = found.order();
    if (!order.isOpen()) {
      throw new TradeException("Order " + orderID + " is " + order.getOrderStatus() + " already.");
    }
    String userID =
        one(
            connection,
            row -> row.getString(1),
            "SELECT USERID FROM ACCOUNTPROFILEEJB, ACCOUNTEJB"
                + " WHERE PROFILE_USERID = USERID AND ACCOUNTID = ?",
            found.accountID());
    if (order.isBuy()) {
      completeBuy(connection, order, found.accountID());
    } else {
      completeSell(connection, order, found.holdingID());
    }
    order.setOrderStatus(TradeOrder.CLOSED);
    order.setCompletionDate(now());
    update(
        connection,
        "UPDATE ORDEREJB SET ORDERSTATUS = ?, COMPLETIONDATE = ? WHERE ORDERID = ?",
        order.getOrderStatus(),
        order.getCompletionDate(),
        orderID);
    completed.accept(userID, orderID);
    return order;
  }

  private void completeBuy(Connection connection, TradeOrder order, int accountID)
      throws SQLException {
    int holdingID = keys.next("holding");
    update(
        connection,
        "INSERT INTO HOLDINGEJB (HOLDINGID, QUANTITY, PURCHASEPRICE, PURCHASEDATE, QUOTE_SYMBOL,"
            + " ACCOUNT_ACCOUNTID) VALUES (?, ?, ?, ?, ?, ?)",
        holdingID,
        order.getQuantity(),
        order.getPrice(),
        now(),
        order.getSymbol(),
        accountID);
    Lookups.holding(connection, holdingID);
    update(
        connection,
        "UPDATE ORDEREJB SET HOLDING_HOLDINGID = ? WHERE ORDERID = ?",
        holdingID,
        order.getOrderID());
  }

  private static void completeSell(Connection connection, TradeOrder order, int holdingID)
      throws SQLException {
    if (Lookups.holding(connection, holdingID) == null) {
      throw new TradeException("Order " + order.getOrderID() + " has nothing to sell.");
    }
    update(connection, "DELETE FROM HOLDINGEJB WHERE HOLDINGID = ?", holdingID);
    update(
        connection,
        "UPDATE ORDEREJB SET HOLDING_HOLDINGID = NULL WHERE HOLDING_HOLDINGID = ?",
        holdingID);
  }

  private static Timestamp now() {
    return new Timestamp(System.currentTimeMillis());
  }
}
