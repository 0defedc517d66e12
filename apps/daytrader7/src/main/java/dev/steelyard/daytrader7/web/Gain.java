// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.entities.Holding;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/**
 * What became of some money.
 *
 * @param amount above what it was
 * @param percent of what it was
 */
public record Gain(BigDecimal amount, BigDecimal percent) {

  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);

  /** From what it was to what it is. */
  public static Gain of(BigDecimal before, BigDecimal now) {
    BigDecimal percent =
        before.signum() == 0
            ? BigDecimal.ZERO
            : now.divide(before, RoundingMode.HALF_UP).subtract(BigDecimal.ONE).multiply(HUNDRED);
    return new Gain(now.subtract(before), percent);
  }

  /** What all holdings cost, without fees. */
  public static BigDecimal cost(List<Holding> holdings) {
    return holdings.stream()
        .map(each -> times(each.getPurchasePrice(), each.getQuantity()))
        .reduce(BigDecimal.ZERO.setScale(2), BigDecimal::add);
  }

  /** A price times a number of shares, two decimals. */
  public static BigDecimal times(BigDecimal price, double quantity) {
    return price.multiply(BigDecimal.valueOf(quantity)).setScale(2, RoundingMode.HALF_UP);
  }
}
