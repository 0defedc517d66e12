// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.web.Gain;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.math.BigDecimal;
import java.util.List;
import java.util.function.Function;

/** What the user owns, each holding with its stock as it is now. */
@Named("portfolio")
@RequestScoped
public class PortfolioBean {

  @Inject private Trade trade;
  @Inject private OrderBean ordered;

  private List<HoldingRow> rows;

  /** Reads the holdings, and then the stock of each. */
  @PostConstruct
  void begin() {
    rows =
        trade.holdings(Page.userId()).stream()
            .map(holding -> HoldingRow.of(holding, trade.quote(holding.getQuoteID())))
            .toList();
  }

  /** Sells a holding. */
  public String sell(HoldingRow row) {
    Page.operation("faces-sell");
    return Page.attempt(
        "", () -> ordered.show(trade.sell(Page.userId(), row.holding().getHoldingID())));
  }

  public List<HoldingRow> getRows() {
    return rows;
  }

  /** What all of it is worth. */
  public BigDecimal getMarketValue() {
    return sum(HoldingRow::marketValue);
  }

  /** The gain of all of it. */
  public Gain getGain() {
    return Gain.of(sum(HoldingRow::basis), getMarketValue());
  }

  private BigDecimal sum(Function<HoldingRow, BigDecimal> amount) {
    return rows.stream().map(amount).reduce(BigDecimal.ZERO, BigDecimal::add);
  }
}
