// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.data;

import dev.steelyard.daytrader7.Prices;
import dev.steelyard.daytrader7.TradeConfig;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * The data set: the same numbers and seed make the same stocks, users and holdings, on any machine
 * and any day. Each holding is what a buy at the stock's price would have left.
 *
 * <p>Stocks first, then users in order: they come from one sequence of random numbers.
 */
final class Population {

  /** When everything was made and bought. */
  static final Instant DATE = Instant.parse("2026-06-15T12:00:00Z");

  private static final int HASH_DIGITS = 16;
  private static final BigDecimal RICH = new BigDecimal("1000000.00");

  /** A stock. */
  record Stock(String symbol, String company, BigDecimal price) {}

  /** Shares that were bought. */
  record Purchase(Stock stock, double quantity) {
    BigDecimal cost() {
      return Prices.cents(Prices.costOfBuy(stock.price(), quantity));
    }
  }

  /** A user with what was bought from the opening balance. */
  record User(
      String userID,
      String fullName,
      String address,
      String email,
      String creditCard,
      BigDecimal openBalance,
      List<Purchase> purchases) {
    BigDecimal balance() {
      return purchases.stream().map(Purchase::cost).reduce(openBalance, BigDecimal::subtract);
    }
  }

  private final Random random;
  private final MessageDigest digest;
  private final List<Stock> stocks;

  Population(int quotes, int seed) {
    random = new Random(seed);
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new IllegalStateException(everyJvmHasIt);
    }
    stocks = new ArrayList<>(quotes);
    for (int i = 0; i < quotes; i++) {
      Stock stock =
          new Stock(
              "s:" + i,
              "S" + i + " Incorporated",
              BigDecimal.valueOf(100L * (1 + random.nextInt(200)), 2));
      stocks.add(stock);
      digest(stock);
    }
  }

  List<Stock> stocks() {
    return stocks;
  }

  /** The user of this number; to be called for each number once, from 0 on. */
  User user(int number) {
    String fullName = "first:" + random.nextInt(1000) + " last:" + random.nextInt(5000);
    String address = random.nextInt(1000) + " Oak St.";
    String email = "uid:" + number + "@" + random.nextInt(100) + ".com";
    String card =
        "%d-%04d-%04d-%04d"
            .formatted(
                random.nextInt(100),
                random.nextInt(10_000),
                random.nextInt(10_000),
                random.nextInt(10_000));
    int money = 200_000 + random.nextInt(100_000);
    BigDecimal open = number == 0 ? RICH : BigDecimal.valueOf(100L * money, 2);
    List<Purchase> purchases = new ArrayList<>();
    for (int left = random.nextInt(TradeConfig.MAX_HOLDINGS + 1); left > 0; left--) {
      Stock stock = stocks.get(random.nextInt(stocks.size()));
      purchases.add(new Purchase(stock, 1 + random.nextInt(200)));
    }
    User user = new User("uid:" + number, fullName, address, email, card, open, purchases);
    digest(user);
    return user;
  }

  private void digest(Object row) {
    digest.update(row.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** The hash of all that was made until now. */
  String hash() {
    try {
      byte[] sum = ((MessageDigest) digest.clone()).digest();
      return HexFormat.of().formatHex(sum).substring(0, HASH_DIGITS);
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }
}
