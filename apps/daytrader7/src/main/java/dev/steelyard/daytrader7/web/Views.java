// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;

/** What the Pages are about. */
public final class Views {

  private Views() {}

  /** The home page: an account and what its holdings cost. */
  public record Home(
      String userID, Account account, Instant sessionDate, int holdings, BigDecimal holdingsTotal) {

    /** Cash and holdings. */
    public BigDecimal sum() {
      return account.getBalance().add(holdingsTotal);
    }

    /** Since the account was opened. */
    public Gain gain() {
      return Gain.of(account.getOpenBalance(), sum());
    }
  }

  /** The account page, with some of the orders, or none. */
  public record AccountInformation(
      String userID,
      Account account,
      AccountProfile profile,
      List<TradeOrder> orders,
      boolean more) {}

  /** A holding at the current price; its stock may be gone. */
  public record Position(Holding holding, Quote quote) {
    /** What it cost. */
    public BigDecimal basis() {
      return Gain.times(holding.getPurchasePrice(), holding.getQuantity());
    }

    /** What it would bring. */
    public BigDecimal value() {
      return quote == null ? basis() : Gain.times(quote.getPrice(), holding.getQuantity());
    }
  }

  /** The portfolio. */
  public record Portfolio(List<Position> positions) {
    /** What all cost. */
    public BigDecimal basis() {
      return positions.stream().map(Position::basis).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    /** What all would bring. */
    public BigDecimal value() {
      return positions.stream().map(Position::value).reduce(BigDecimal.ZERO, BigDecimal::add);
    }
  }

  /** A symbol that was asked for, and its stock or null. */
  public record Asked(String symbol, Quote quote) {}
}
