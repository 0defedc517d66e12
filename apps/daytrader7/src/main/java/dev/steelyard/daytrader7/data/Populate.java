// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.data;

import dev.steelyard.bench.database.Database;
import dev.steelyard.daytrader7.Prices;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.beans.MarketSummaryBean;
import dev.steelyard.daytrader7.direct.DirectSummary;
import dev.steelyard.daytrader7.direct.Keys;
import dev.steelyard.daytrader7.entities.TradeOrder;
import dev.steelyard.daytrader7.messages.MessageStatistics;
import jakarta.ejb.EJB;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.List;
import java.util.function.Consumer;

/**
 * Fills the tables, in batches instead of one buy after the other: what is in them afterwards is
 * the same, and it takes seconds.
 */
@ApplicationScoped
public class Populate {

  /** Users that are committed, and told of, together. */
  private static final int USERS_AT_ONCE = 50;

  private static final int ROWS_AT_ONCE = 1000;
  private static final List<String> EMPTIED =
      List.of("DATASET", "HOLDINGEJB", "ORDEREJB", "ACCOUNTEJB", "ACCOUNTPROFILEEJB", "QUOTEEJB");

  @Inject private Database database;
  @Inject private DirectSummary directSummary;
  @Inject private Keys keys;
  @Inject private MessageStatistics statistics;
  @Inject private Tables tables;
  @Inject private TradeConfig config;
  @EJB private MarketSummaryBean summary;

  /**
   * Empties the tables, or makes them where there are none, and fills them. One at a time.
   *
   * @param progress is told lines for people
   * @return the hash of the data
   */
  public synchronized String run(Consumer<String> progress) {
    if (!tables.exist()) {
      tables.make();
    }
    int users = config.maxUsers();
    int quotes = config.maxQuotes();
    int seed = config.seed();
    for (String table : EMPTIED) {
      database.run(connection -> Database.update(connection, "DELETE FROM " + table));
    }
    Population population = new Population(quotes, seed);
    progress.accept("Creating " + quotes + " Quotes");
    database.run(connection -> insertStocks(connection, population.stocks()));
    progress.accept("Registering " + users + " Users");
    for (int first = 0; first < users; first += USERS_AT_ONCE) {
      int from = first;
      int to = Math.min(users, first + USERS_AT_ONCE);
      progress.accept(database.run(connection -> insertUsers(connection, population, from, to)));
    }
    String hash = population.hash();
    database.run(
        connection ->
            Database.update(
                connection,
                "INSERT INTO DATASET (HASH, USERS, QUOTES, SEED) VALUES (?, ?, ?, ?)",
                hash,
                users,
                quotes,
                seed));
    tables.filled();
    summary.refresh();
    directSummary.forget();
    statistics.clear();
    return hash;
  }

  private static Void insertStocks(Connection connection, List<Population.Stock> stocks)
      throws SQLException {
    try (PreparedStatement quote =
        connection.prepareStatement(
            "INSERT INTO QUOTEEJB (SYMBOL, COMPANYNAME, VOLUME, PRICE, OPEN1, LOW, HIGH, CHANGE1)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")) {
      int rows = 0;
      for (Population.Stock stock : stocks) {
        BigDecimal price = stock.price();
        add(quote, stock.symbol(), stock.company(), 0.0, price, price, price, price, 0.0);
        if (++rows % ROWS_AT_ONCE == 0) {
          quote.executeBatch();
        }
      }
      quote.executeBatch();
    }
    return null;
  }

  /** Tells of the first of them. */
  private String insertUsers(Connection connection, Population population, int from, int to)
      throws SQLException {
    String told = "";
    try (PreparedStatement profile =
            connection.prepareStatement(
                "INSERT INTO ACCOUNTPROFILEEJB (USERID, PASSWD, FULLNAME, ADDRESS, EMAIL,"
                    + " CREDITCARD) VALUES (?, 'xxx', ?, ?, ?, ?)");
        PreparedStatement account =
            connection.prepareStatement(
                "INSERT INTO ACCOUNTEJB (ACCOUNTID, CREATIONDATE, OPENBALANCE, BALANCE, LASTLOGIN,"
                    + " LOGINCOUNT, LOGOUTCOUNT, PROFILE_USERID) VALUES (?, ?, ?, ?, ?, 0, 0, ?)");
        PreparedStatement holding =
            connection.prepareStatement(
                "INSERT INTO HOLDINGEJB (HOLDINGID, QUANTITY, PURCHASEPRICE, PURCHASEDATE,"
                    + " QUOTE_SYMBOL, ACCOUNT_ACCOUNTID) VALUES (?, ?, ?, ?, ?, ?)");
        PreparedStatement order =
            connection.prepareStatement(
                "INSERT INTO ORDEREJB (ORDERID, ORDERTYPE, ORDERSTATUS, OPENDATE, COMPLETIONDATE,"
                    + " QUANTITY, PRICE, ORDERFEE, QUOTE_SYMBOL, ACCOUNT_ACCOUNTID,"
                    + " HOLDING_HOLDINGID) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
      Timestamp date = Timestamp.from(Population.DATE);
      for (int i = from; i < to; i++) {
        Population.User user = population.user(i);
        int accountID = keys.next("account");
        add(
            profile,
            user.userID(),
            user.fullName(),
            user.address(),
            user.email(),
            user.creditCard());
        add(account, accountID, date, user.openBalance(), user.balance(), date, user.userID());
        for (Population.Purchase purchase : user.purchases()) {
          int holdingID = keys.next("holding");
          String symbol = purchase.stock().symbol();
          BigDecimal price = purchase.stock().price();
          double quantity = purchase.quantity();
          add(holding, holdingID, quantity, price, date, symbol, accountID);
          add(
              order,
              keys.next("order"),
              TradeOrder.BUY,
              TradeOrder.CLOSED,
              date,
              date,
              quantity,
              price,
              Prices.FEE,
              symbol,
              accountID,
              holdingID);
        }
        if (i == from) {
          told =
              "Account# %d userID=%s has %d holdings."
                  .formatted(accountID, user.userID(), user.purchases().size());
        }
      }
      profile.executeBatch();
      account.executeBatch();
      holding.executeBatch();
      order.executeBatch();
    }
    return told;
  }

  private static void add(PreparedStatement batch, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      batch.setObject(i + 1, values[i]);
    }
    batch.addBatch();
  }
}
