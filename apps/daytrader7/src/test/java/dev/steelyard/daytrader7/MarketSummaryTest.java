// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.daytrader7.entities.Quote;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MarketSummaryTest {

  /** Stocks that opened at 10.00 and changed by what their number is short of 4. */
  private static List<Quote> stocks(int count) {
    List<Quote> stocks = new ArrayList<>();
    BigDecimal open = new BigDecimal("10.00");
    for (int i = 0; i < count; i++) {
      BigDecimal price = open.add(BigDecimal.valueOf(4 - i));
      stocks.add(new Quote("s:" + i, "", 2, price, open, open, open, 4 - i));
    }
    return stocks;
  }

  @Test
  void theFirstRoseMostAndTheLastFellMost() {
    MarketSummary summary = MarketSummary.of(stocks(8));
    assertEquals(
        List.of("s:0", "s:1", "s:2", "s:3", "s:4"),
        summary.topGainers().stream().map(Quote::getSymbol).toList());
    assertEquals(
        List.of("s:7", "s:6", "s:5", "s:4", "s:3"),
        summary.topLosers().stream().map(Quote::getSymbol).toList());
    assertEquals(new BigDecimal("10.50"), summary.tsia());
    assertEquals(new BigDecimal("10.00"), summary.openTsia());
    assertEquals(16, summary.volume());
  }

  @Test
  void fiveStocksAreTooFew() {
    MarketSummary summary = MarketSummary.of(stocks(5));
    assertEquals(List.of(), summary.topGainers());
    assertEquals(BigDecimal.ZERO, summary.tsia());
  }
}
