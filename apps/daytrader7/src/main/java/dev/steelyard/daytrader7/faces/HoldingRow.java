// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.web.Gain;
import java.math.BigDecimal;

/**
 * A row of the portfolio.
 *
 * @param basis what was paid
 * @param marketValue what it is worth now
 */
public record HoldingRow(
    Holding holding, Quote quote, BigDecimal basis, BigDecimal marketValue, Gain gain) {

  /** A holding and its stock as it is now. */
  static HoldingRow of(Holding holding, Quote quote) {
    BigDecimal basis = Gain.times(holding.getPurchasePrice(), holding.getQuantity());
    BigDecimal value = Gain.times(quote.getPrice(), holding.getQuantity());
    return new HoldingRow(holding, quote, basis, value, Gain.of(basis, value));
  }
}
