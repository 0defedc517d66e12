// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.random.RandomGenerator;

/** What orders cost and how prices move. */
public final class Prices {

  /** For each order, to buy or to sell. */
  public static final BigDecimal FEE = new BigDecimal("24.95");

  private static final BigDecimal PENNY = new BigDecimal("0.01");
  private static final BigDecimal PENNY_RECOVERY = new BigDecimal("600.00");
  private static final BigDecimal SPLIT_ABOVE = new BigDecimal("400.00");
  private static final BigDecimal SPLIT = new BigDecimal("0.5");
  private static final double MOST_CHANGE = 0.1;

  private Prices() {}

  /** Two decimals, halves up. */
  public static BigDecimal cents(BigDecimal amount) {
    return amount.setScale(2, RoundingMode.HALF_UP);
  }

  /** What the account pays. */
  public static BigDecimal costOfBuy(BigDecimal price, double quantity) {
    return BigDecimal.valueOf(quantity).multiply(price).add(FEE);
  }

  /** What the account gets. */
  public static BigDecimal proceedsOfSell(BigDecimal price, double quantity) {
    return BigDecimal.valueOf(quantity).multiply(price).subtract(FEE);
  }

  /** From 0.90 to 1.10 in steps of 0.01: up or down by a fair coin. */
  public static BigDecimal changeFactor(RandomGenerator random) {
    double change = random.nextDouble() * MOST_CHANGE;
    return cents(BigDecimal.valueOf(1 + (random.nextBoolean() ? change : -change)));
  }

  /** The factor that a price really moves by: a penny recovers, what is dear is split. */
  public static BigDecimal factorFor(BigDecimal price, BigDecimal changeFactor) {
    if (price.compareTo(PENNY) == 0) {
      return PENNY_RECOVERY;
    }
    return price.compareTo(SPLIT_ABOVE) > 0 ? SPLIT : changeFactor;
  }

  /** The price after a move by this factor. */
  public static BigDecimal moved(BigDecimal price, BigDecimal factor) {
    return cents(factor.multiply(price));
  }
}
