// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeException;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.util.Arrays;
import java.util.List;

/**
 * The stocks whose symbols the session remembers. A form is decoded against their table as it was
 * shown, so row 0 is the first of the remembered ones, whatever symbols are posted beside it.
 */
@Named("quotes")
@RequestScoped
public class QuotesBean {

  private static final int LONGEST_SYMBOLS = 40;
  private static final int LONGEST_SYMBOL = 10;

  @Inject private Trade trade;
  @Inject private SessionUser session;
  @Inject private OrderBean ordered;

  private String symbols;
  private List<QuoteRow> rows;

  /** Reads the remembered stocks, which every page with a form for quotes does. */
  @PostConstruct
  void begin() {
    read(session.symbols());
  }

  private void read(String wanted) {
    symbols = wanted;
    rows =
        Arrays.stream(wanted.split("[ ,]+"))
            .filter(symbol -> !symbol.isEmpty())
            .map(
                symbol ->
                    new QuoteRow(
                        symbol, symbol.length() > LONGEST_SYMBOL ? null : trade.quote(symbol)))
            .toList();
  }

  /** Shows other stocks, and remembers them. */
  public String show() {
    Page.operation("faces-quotes");
    if (symbols == null || symbols.isBlank() || symbols.length() > LONGEST_SYMBOLS) {
      Page.say("Symbols must have from 1 to " + LONGEST_SYMBOLS + " characters");
      return null;
    }
    session.symbols(symbols);
    read(symbols);
    return "quote";
  }

  /** Buys shares of a row. */
  public String buy(QuoteRow row) {
    Page.operation("faces-buy");
    return Page.attempt(
        "",
        () -> ordered.show(trade.buy(Page.userId(), row.getSymbol(), number(row.getQuantity()))));
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new TradeException("The quantity of shares must be a number above zero.");
    }
  }

  public List<QuoteRow> getRows() {
    return rows;
  }

  public String getSymbols() {
    return symbols;
  }

  public void setSymbols(String symbols) {
    this.symbols = symbols;
  }
}
