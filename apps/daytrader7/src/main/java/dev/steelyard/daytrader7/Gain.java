// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * What something is worth more than it was.
 *
 * @param amount value less basis
 * @param percent of the basis; zero where that is zero
 */
public record Gain(BigDecimal amount, BigDecimal percent) {

  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);

  /** From a value and what it is compared with; the quotient has as many decimals as the value. */
  public static Gain of(BigDecimal value, BigDecimal basis) {
    BigDecimal percent =
        basis.signum() == 0
            ? BigDecimal.ZERO
            : value.divide(basis, RoundingMode.HALF_UP).subtract(BigDecimal.ONE).multiply(HUNDRED);
    return new Gain(value.subtract(basis), percent);
  }

  /** Whether it is none below zero. */
  public boolean isUp() {
    return amount.signum() >= 0;
  }
}
