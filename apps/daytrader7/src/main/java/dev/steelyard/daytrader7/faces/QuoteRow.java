// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.web.Gain;

/** A row of the quotes' table: a stock, and how much of it is to be bought. */
public class QuoteRow {

  private final String symbol;
  private final Quote quote;
  private final Gain gain;
  private String quantity = "100";

  /**
   * A row that shows a stock.
   *
   * @param quote null for a symbol that is no stock's
   */
  QuoteRow(String symbol, Quote quote) {
    this.symbol = symbol;
    this.quote = quote;
    gain = quote == null ? null : Gain.of(quote.getOpen(), quote.getPrice());
  }

  public String getSymbol() {
    return symbol;
  }

  public Quote getQuote() {
    return quote;
  }

  public Gain getGain() {
    return gain;
  }

  public String getQuantity() {
    return quantity;
  }

  public void setQuantity(String quantity) {
    this.quantity = quantity;
  }
}
