// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import static dev.steelyard.bench.database.Database.one;

import dev.steelyard.bench.database.Database;
import dev.steelyard.daytrader7.MarketSummary;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.entities.Quote;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** The market summary of direct mode: made when it is asked for and the last one is too old. */
@ApplicationScoped
public class DirectSummary {

  @Inject private Database database;
  @Inject private TradeConfig config;

  private final ReentrantLock making = new ReentrantLock();
  private volatile MarketSummary latest;
  private volatile long madeNanos;

  /** One caller makes it anew, the others get the one before. */
  MarketSummary current() {
    int interval = config.marketSummaryInterval();
    if (interval < 0) {
      return MarketSummary.EMPTY;
    }
    if (old(interval) && making.tryLock()) {
      try {
        if (old(interval)) {
          latest = database.run(DirectSummary::make);
          madeNanos = System.nanoTime();
        }
      } finally {
        making.unlock();
      }
    }
    MarketSummary found = latest;
    return lacksStocks(found) ? first() : found;
  }

  /** Whether stocks are yet to be made, perhaps by another JVM. */
  private static boolean lacksStocks(MarketSummary summary) {
    return summary == null || summary.isEmpty();
  }

  /** Who comes before there is one makes it itself: drivers look for stocks in every answer. */
  private synchronized MarketSummary first() {
    MarketSummary found = latest;
    if (lacksStocks(found)) {
      found = database.run(DirectSummary::make);
      latest = found;
      madeNanos = System.nanoTime();
    }
    return found;
  }

  /** The next caller is to make it anew. */
  public void forget() {
    latest = null;
  }

  private boolean old(int interval) {
    return latest == null || System.nanoTime() - madeNanos >= TimeUnit.SECONDS.toNanos(interval);
  }

  private static MarketSummary make(Connection connection) throws SQLException {
    List<Quote> losers = first(connection, "SELECT * FROM QUOTEEJB ORDER BY CHANGE1");
    List<Quote> gainers = first(connection, "SELECT * FROM QUOTEEJB ORDER BY CHANGE1 DESC");
    BigDecimal tsia =
        one(connection, row -> row.getBigDecimal(1), "SELECT SUM(PRICE) / COUNT(*) FROM QUOTEEJB");
    BigDecimal open =
        one(connection, row -> row.getBigDecimal(1), "SELECT SUM(OPEN1) / COUNT(*) FROM QUOTEEJB");
    double volume = one(connection, row -> row.getDouble(1), "SELECT SUM(VOLUME) FROM QUOTEEJB");
    return new MarketSummary(cents(tsia), cents(open), volume, gainers, losers, Instant.now());
  }

  /** The first rows of a query that has no limit, as only so it is the same on all databases. */
  private static List<Quote> first(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      List<Quote> quotes = new ArrayList<>(MarketSummary.NAMED);
      while (quotes.size() < MarketSummary.NAMED && rows.next()) {
        quotes.add(Rows.quote(rows));
      }
      return quotes;
    }
  }

  private static BigDecimal cents(BigDecimal mean) {
    return mean == null ? BigDecimal.ZERO : mean.setScale(2, RoundingMode.HALF_UP);
  }
}
