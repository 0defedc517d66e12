// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import static dev.steelyard.bench.database.Database.list;
import static dev.steelyard.bench.database.Database.one;
import static dev.steelyard.bench.database.Database.update;

import dev.steelyard.bench.database.Database;
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

  /** The class of SQL states of a violated constraint. */
  private static final String CONSTRAINT = "23";

  @Inject private Database database;
  @Inject private Keys keys;
  @Inject private Messages messages;
  @Inject private DirectOrders orders;
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
    return database.run(connection -> Lookups.order(connection, orderID));
  }

  private int newBuy(String userID, String symbol, double quantity, OrderMode mode) {
    int orderID = keys.next("order");
    return database.run(
        connection -> {
          orders.buy(connection, orderID, userID, symbol, quantity);
          process(connection, orderID, mode);
          return orderID;
        });
  }

  private int newSell(String userID, int holdingID, OrderMode mode) {
    int orderID = keys.next("order");
    return database.run(
        connection -> {
          if (orders.sell(connection, orderID, userID, holdingID)) {
            process(connection, orderID, mode);
          }
          return orderID;
        });
  }

  private void process(Connection connection, int orderID, OrderMode mode) throws SQLException {
    if (mode == OrderMode.SYNC) {
      orders.complete(connection, orderID, this::orderCompleted);
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
    return database.run(connection -> orders.complete(connection, orderID, this::orderCompleted));
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
                  "SELECT O.* FROM ORDEREJB O WHERE O.ORDERSTATUS = 'closed' AND O.ACCOUNT_ACCOUNTID ="
                      + " (SELECT A.ACCOUNTID FROM ACCOUNTEJB A WHERE A.PROFILE_USERID = ?)",
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
  public Quote quote(String symbol) {
    return database.run(connection -> Lookups.quote(connection, symbol));
  }

  @Override
  public Quote updateQuotePriceVolume(
      String symbol, BigDecimal changeFactor, double sharesTraded, boolean publish) {
    // A price before and after.
    record Moved(Quote quote, BigDecimal oldPrice, BigDecimal factor) {}
    Moved moved =
        database.run(
            connection -> {
              Quote quote =
                  one(connection, Rows::quote, database.dialect().locked(Lookups.QUOTE), symbol);
              BigDecimal factor = Prices.factorFor(quote.getPrice(), changeFactor);
              BigDecimal price = Prices.moved(quote.getPrice(), factor);
              update(
                  connection,
                  "UPDATE QUOTEEJB SET PRICE = ?, CHANGE1 = ?, VOLUME = ? WHERE SYMBOL = ?",
                  price,
                  price.subtract(quote.getOpen()).doubleValue(),
                  quote.getVolume() + sharesTraded,
                  symbol);
              return new Moved(Lookups.quote(connection, symbol), quote.getPrice(), factor);
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
  public Account accountData(String userID) {
    return database.run(connection -> Lookups.account(connection, userID));
  }

  @Override
  public AccountProfile accountProfileData(String userID) {
    return database.run(connection -> Lookups.profile(connection, userID));
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
          return Lookups.profile(connection, profile.getUserID());
        });
  }

  @Override
  public Account login(String userID, String password) {
    return database.run(
        connection -> {
          if (!Lookups.profile(connection, userID).getPassword().equals(password)) {
            throw new LoginException("The password of " + userID + " is another one.");
          }
          update(
              connection,
              "UPDATE ACCOUNTEJB SET LASTLOGIN = ?, LOGINCOUNT = LOGINCOUNT + 1"
                  + " WHERE PROFILE_USERID = ?",
              now(),
              userID);
          return Lookups.account(connection, userID);
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
          insert(connection, profile);
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
    return account;
  }

  /** Nobody asks before whether the user is there; that it is, is no failure of the database. */
  private static void insert(Connection connection, AccountProfile profile) throws SQLException {
    try {
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
    } catch (SQLException e) {
      if (String.valueOf(e.getSQLState()).startsWith(CONSTRAINT)) {
        throw new TradeException("There is a user " + profile.getUserID() + " already.");
      }
      throw e;
    }
  }

  @Override
  public RunStatistics resetTrade() {
    return database.run(Reset::run);
  }

  private static Timestamp now() {
    return new Timestamp(System.currentTimeMillis());
  }
}
