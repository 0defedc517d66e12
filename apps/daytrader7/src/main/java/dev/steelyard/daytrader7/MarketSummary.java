// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.daytrader7.entities.Quote;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * How the market does.
 *
 * @param tsia the mean of all prices, two decimals
 * @param openTsia the mean of all opening prices, two decimals
 * @param volume shares traded
 * @param topGainers the five stocks that rose most
 * @param topLosers the five that fell most
 * @param date when this was found
 */
public record MarketSummary(
    BigDecimal tsia,
    BigDecimal openTsia,
    double volume,
    List<Quote> topGainers,
    List<Quote> topLosers,
    Instant date)
    implements Serializable {

  /** How many stocks are named on each side. */
  public static final int NAMED = 5;

  /** Before there is anything to say. */
  public static final MarketSummary EMPTY =
      new MarketSummary(BigDecimal.ZERO, BigDecimal.ZERO, 0, List.of(), List.of(), Instant.EPOCH);

  /** Whether it names no stock. */
  public boolean isEmpty() {
    return topGainers.isEmpty();
  }

  /** From all stocks, those that rose most first. With five or fewer there is nothing to say. */
  public static MarketSummary of(List<Quote> byChange) {
    int count = byChange.size();
    if (count <= NAMED) {
      return new MarketSummary(
          BigDecimal.ZERO, BigDecimal.ZERO, 0, List.of(), List.of(), Instant.now());
    }
    BigDecimal prices = BigDecimal.ZERO;
    BigDecimal opens = BigDecimal.ZERO;
    double volume = 0;
    for (Quote quote : byChange) {
      prices = prices.add(quote.getPrice());
      opens = opens.add(quote.getOpen());
      volume += quote.getVolume();
    }
    List<Quote> losers = new ArrayList<>(NAMED);
    for (int i = 1; i <= NAMED; i++) {
      losers.add(byChange.get(count - i));
    }
    return new MarketSummary(
        mean(prices, count),
        mean(opens, count),
        volume,
        List.copyOf(byChange.subList(0, NAMED)),
        losers,
        Instant.now());
  }

  private static BigDecimal mean(BigDecimal sum, int count) {
    return sum.divide(BigDecimal.valueOf(count), 2, RoundingMode.HALF_UP);
  }
}
