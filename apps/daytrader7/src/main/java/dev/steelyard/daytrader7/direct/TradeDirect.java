// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import static dev.steelyard.daytrader7.direct.Database.list;
import static dev.steelyard.daytrader7.direct.Database.one;
import static dev.steelyard.daytrader7.direct.Database.update;

import dev.steelyard.daytrader7.LoginException;
import dev.steelyard.daytrader7.MarketSummary;
import dev.steelyard.daytrader7.OrderMode;
import dev.steelyard.daytrader7.Prices;
import dev.steelyard.daytrader7.RunStatistics;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.TradeServices;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import dev.steelyard.daytrader7.messages.Messages;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.List;
import java.util.function.Supplier;

/**
 * The operations through JDBC. An order of the 2-phase mode is made in a global transaction, which
 * the message joins; everything else is committed by hand unless the caller has a transaction.
 */
@ApplicationScoped
public class TradeDirect implements TradeServices {

  private static final String QUOTE = "SELECT * FROM QUOTEEJB WHERE SYMBOL = ?";
  private static final String ORDER = "SELECT * FROM ORDEREJB WHERE ORDERID = ?";
  private static final String ACCOUNT = "SELECT * FROM ACCOUNTEJB WHERE PROFILE_USERID = ?";
  private static final String PROFILE = "SELECT * FROM ACCOUNTPROFILEEJB WHERE USERID = ?";
  private static final Timestamp BEING_SOLD = new Timestamp(0);

  @Inject private Database database;
  @Inject private Keys keys;
  @Inject private Messages messages;
  @Inject private DirectSummary summary;
  @Inject private TwoPhase twoPhase;

  @Override
  public MarketSummary marketSummary() {
    return summary.current();
  }

  @Override
  public TradeOrder buy(String userID, String symbol, double quantity, OrderMode mode) {
    return made(mode, () -> newBuy(userID, symbol, quantity, mode));
  }

  @Override
  public TradeOrder sell(String userID, int holdingID, OrderMode mode) {
    return made(mode, () -> newSell(userID, holdingID, mode));
  }

  private TradeOrder made(OrderMode mode, Supplier<Integer> order) {
    int orderID = mode == OrderMode.ASYNC_2PHASE ? twoPhase.run(order) : order.get();
    return database.run(connection -> order(connection, orderID));
  }

  private int newBuy(String userID, String symbol, double quantity, OrderMode mode) {
    int orderID = keys.next("order");
    return database.run(
        connection -> {
          Account account = lockedAccount(connection, userID);
          Quote quote = symbol == null ? null : one(connection, Rows::quote, QUOTE, symbol);
          if (quote == null) {
            throw new TradeException("There is no stock " + symbol + ".");
          }
          insertOrder(connection, orderID, account, quote, null, TradeOrder.BUY, quantity);
          charge(connection, account, Prices.costOfBuy(quote.getPrice(), quantity).negate());
          process(connection, orderID, mode);
          return orderID;
        });
  }

  private int newSell(String userID, int holdingID, OrderMode mode) {
    int orderID = keys.next("order");
    return database.run(
        connection -> {
          Account account = lockedAccount(connection, userID);
          Holding holding =
              one(
                  connection,
                  Rows::holding,
                  "SELECT * FROM HOLDINGEJB WHERE HOLDINGID = ? AND ACCOUNT_ACCOUNTID = ?"
                      + " FOR UPDATE WITH RS",
                  holdingID,
                  account.getAccountID());
          if (holding == null || holding.getPurchaseDate().equals(BEING_SOLD)) {
            insertCancelled(connection, orderID);
            return orderID;
          }
          Quote quote = one(connection, Rows::quote, QUOTE, holding.getQuoteID());
          update(
              connection,
              "UPDATE HOLDINGEJB SET PURCHASEDATE = ? WHERE HOLDINGID = ?",
              BEING_SOLD,
              holdingID);
          double quantity = holding.getQuantity();
          insertOrder(connection, orderID, account, quote, holdingID, TradeOrder.SELL, quantity);
          charge(connection, account, Prices.proceedsOfSell(quote.getPrice(), quantity));
          process(connection, orderID, mode);
          return orderID;
        });
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
    order(connection, orderID);
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

  private void process(Connection connection, int orderID, OrderMode mode) throws SQLException {
    if (mode == OrderMode.SYNC) {
      complete(connection, orderID);
    } else if (mode == OrderMode.ASYNC_2PHASE) {
      queueOrder(orderID, true);
    }
  }

  @Override
  public void queueOrder(int orderID, boolean inTwoPhases) {
    messages.newOrder(orderID, inTwoPhases, true);
  }

  @Override
  public TradeOrder completeOrder(int orderID, boolean inTwoPhases) {
    return database.run(connection -> complete(connection, orderID));
  }

  private TradeOrder complete(Connection connection, int orderID) throws SQLException {
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
            ORDER,
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
    orderCompleted(userID, orderID);
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
    holding(connection, holdingID);
    update(
        connection,
        "UPDATE ORDEREJB SET HOLDING_HOLDINGID = ? WHERE ORDERID = ?",
        holdingID,
        order.getOrderID());
  }

  private static void completeSell(Connection connection, TradeOrder order, int holdingID)
      throws SQLException {
    if (holding(connection, holdingID) == null) {
      throw new TradeException("Order " + order.getOrderID() + " has nothing to sell.");
    }
    update(connection, "DELETE FROM HOLDINGEJB WHERE HOLDINGID = ?", holdingID);
    update(
        connection,
        "UPDATE ORDEREJB SET HOLDING_HOLDINGID = NULL WHERE HOLDING_HOLDINGID = ?",
        holdingID);
  }

  @Override
  public void cancelOrder(int orderID, boolean inTwoPhases) {
    database.run(
        connection ->
            update(
                connection,
                "UPDATE ORDEREJB SET ORDERSTATUS = ?, COMPLETIONDATE = ? WHERE ORDERID = ?",
                TradeOrder.CANCELLED,
                now(),
                orderID));
  }

  @Override
  public List<TradeOrder> orders(String userID) {
    return database.run(
        connection ->
            list(
                connection,
                Rows::order,
                "SELECT O.* FROM ORDEREJB O WHERE O.ACCOUNT_ACCOUNTID ="
                    + " (SELECT A.ACCOUNTID FROM ACCOUNTEJB A WHERE A.PROFILE_USERID = ?)",
                userID));
  }

  @Override
  public List<TradeOrder> closedOrders(String userID) {
    return database.run(
        connection -> {
          List<TradeOrder> closed =
              list(
                  connection,
                  Rows::order,
                  "SELECT O.* FROM ORDEREJB O WHERE O.ORDERSTATUS = ? AND O.ACCOUNT_ACCOUNTID ="
                      + " (SELECT A.ACCOUNTID FROM ACCOUNTEJB A WHERE A.PROFILE_USERID = ?)",
                  TradeOrder.CLOSED,
                  userID);
          for (TradeOrder order : closed) {
            order.setOrderStatus(TradeOrder.COMPLETED);
            update(
                connection,
                "UPDATE ORDEREJB SET ORDERSTATUS = ? WHERE ORDERID = ?",
                order.getOrderStatus(),
                order.getOrderID());
          }
          return closed;
        });
  }

  @Override
  public Quote createQuote(String symbol, String companyName, BigDecimal price) {
    database.run(
        connection ->
            update(
                connection,
                "INSERT INTO QUOTEEJB (SYMBOL, COMPANYNAME, VOLUME, PRICE, OPEN1, LOW, HIGH,"
                    + " CHANGE1) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                symbol,
                companyName,
                0.0,
                price,
                price,
                price,
                price,
                0.0));
    return new Quote(symbol, companyName, price);
  }

  @Override
  public Quote quote(String symbol) {
    return database.run(connection -> one(connection, Rows::quote, QUOTE, symbol));
  }

  @Override
  public List<Quote> allQuotes() {
    return database.run(connection -> list(connection, Rows::quote, "SELECT * FROM QUOTEEJB"));
  }

  @Override
  public Quote updateQuotePriceVolume(
      String symbol, BigDecimal changeFactor, double sharesTraded, boolean publish) {
    // A price before and after.
    record Moved(Quote quote, BigDecimal oldPrice, BigDecimal factor) {}
    Moved moved =
        database.run(
            connection -> {
              Quote quote = one(connection, Rows::quote, QUOTE + " FOR UPDATE WITH RS", symbol);
              BigDecimal factor = Prices.factorFor(quote.getPrice(), changeFactor);
              BigDecimal price = Prices.moved(quote.getPrice(), factor);
              update(
                  connection,
                  "UPDATE QUOTEEJB SET PRICE = ?, CHANGE1 = ?, VOLUME = ? WHERE SYMBOL = ?",
                  price,
                  price.subtract(quote.getOpen()).doubleValue(),
                  quote.getVolume() + sharesTraded,
                  symbol);
              return new Moved(
                  one(connection, Rows::quote, QUOTE, symbol), quote.getPrice(), factor);
            });
    if (publish) {
      messages.updateQuote(moved.quote(), moved.oldPrice(), moved.factor(), sharesTraded);
    }
    return moved.quote();
  }

  @Override
  public List<Holding> holdings(String userID) {
    return database.run(
        connection ->
            list(
                connection,
                Rows::holding,
                "SELECT H.* FROM HOLDINGEJB H WHERE H.ACCOUNT_ACCOUNTID ="
                    + " (SELECT A.ACCOUNTID FROM ACCOUNTEJB A WHERE A.PROFILE_USERID = ?)",
                userID));
  }

  @Override
  public Holding holding(int holdingID) {
    return database.run(connection -> holding(connection, holdingID));
  }

  @Override
  public Account accountData(String userID) {
    return database.run(connection -> account(connection, userID));
  }

  @Override
  public AccountProfile accountProfileData(String userID) {
    return database.run(connection -> profile(connection, userID));
  }

  @Override
  public AccountProfile updateAccountProfile(AccountProfile profile) {
    return database.run(
        connection -> {
          update(
              connection,
              "UPDATE ACCOUNTPROFILEEJB SET PASSWD = ?, FULLNAME = ?, ADDRESS = ?, EMAIL = ?,"
                  + " CREDITCARD = ? WHERE USERID = ?",
              profile.getPassword(),
              profile.getFullName(),
              profile.getAddress(),
              profile.getEmail(),
              profile.getCreditCard(),
              profile.getUserID());
          return profile(connection, profile.getUserID());
        });
  }

  @Override
  public Account login(String userID, String password) {
    return database.run(
        connection -> {
          if (!profile(connection, userID).getPassword().equals(password)) {
            throw new LoginException("The password of " + userID + " is another one.");
          }
          update(
              connection,
              "UPDATE ACCOUNTEJB SET LASTLOGIN = ?, LOGINCOUNT = LOGINCOUNT + 1"
                  + " WHERE PROFILE_USERID = ?",
              now(),
              userID);
          return account(connection, userID);
        });
  }

  @Override
  public void logout(String userID) {
    database.run(
        connection ->
            update(
                connection,
                "UPDATE ACCOUNTEJB SET LOGOUTCOUNT = LOGOUTCOUNT + 1 WHERE PROFILE_USERID = ?",
                userID));
  }

  @Override
  public Account register(AccountProfile profile, BigDecimal openBalance) {
    int accountID = keys.next("account");
    Timestamp now = now();
    database.run(
        connection -> {
          update(
              connection,
              "INSERT INTO ACCOUNTPROFILEEJB (USERID, PASSWD, FULLNAME, ADDRESS, EMAIL,"
                  + " CREDITCARD) VALUES (?, ?, ?, ?, ?, ?)",
              profile.getUserID(),
              profile.getPassword(),
              profile.getFullName(),
              profile.getAddress(),
              profile.getEmail(),
              profile.getCreditCard());
          return update(
              connection,
              "INSERT INTO ACCOUNTEJB (ACCOUNTID, CREATIONDATE, OPENBALANCE, BALANCE, LASTLOGIN,"
                  + " LOGINCOUNT, LOGOUTCOUNT, PROFILE_USERID) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
              accountID,
              now,
              openBalance,
              openBalance,
              now,
              0,
              0,
              profile.getUserID());
        });
    Account account = new Account(accountID, now, openBalance, openBalance, now, 0, 0);
    account.setProfileID(profile.getUserID());
    return account;
  }

  @Override
  public RunStatistics resetTrade() {
    return database.run(Reset::run);
  }

  /** The account whose balance is to change: nobody else may change it before this is done. */
  private static Account lockedAccount(Connection connection, String userID) throws SQLException {
    return known(one(connection, Rows::account, ACCOUNT + " FOR UPDATE WITH RS", userID), userID);
  }

  private static Account account(Connection connection, String userID) throws SQLException {
    return known(one(connection, Rows::account, ACCOUNT, userID), userID);
  }

  private static AccountProfile profile(Connection connection, String userID) throws SQLException {
    return known(userID == null ? null : one(connection, Rows::profile, PROFILE, userID), userID);
  }

  private static <T> T known(T row, String userID) {
    if (row == null) {
      throw new LoginException("There is no user " + userID + ".");
    }
    return row;
  }

  private static Holding holding(Connection connection, int holdingID) throws SQLException {
    return one(
        connection, Rows::holding, "SELECT * FROM HOLDINGEJB WHERE HOLDINGID = ?", holdingID);
  }

  private static TradeOrder order(Connection connection, int orderID) throws SQLException {
    return one(connection, Rows::order, ORDER, orderID);
  }

  private static Timestamp now() {
    return new Timestamp(System.currentTimeMillis());
  }
}
