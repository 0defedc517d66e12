// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.entities.Quote;
import jakarta.enterprise.context.RequestScoped;
import jakarta.enterprise.context.SessionScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** What the primitives of Faces show. */
public final class PingBeans {

  private PingBeans() {}

  /** Five stocks from the database. */
  @Named("pingQuotes")
  @RequestScoped
  public static class Quotes {

    private static final int SHOWN = 5;

    @Inject private Trade trade;
    @Inject private TradeConfig config;

    private List<Quote> stocks;

    /** Reads them when they are first asked for. */
    public List<Quote> getStocks() {
      if (stocks == null) {
        stocks =
            ThreadLocalRandom.current()
                .ints(SHOWN, 0, config.maxQuotes())
                .mapToObj(number -> trade.quote("s:" + number))
                .filter(Objects::nonNull)
                .toList();
      }
      return stocks;
    }
  }

  /** How often the session has looked. */
  @Named("pingHits")
  @SessionScoped
  public static class Hits implements Serializable {

    private static final long serialVersionUID = 1L;

    private final AtomicInteger hits = new AtomicInteger();

    /** Counts. */
    public int getCount() {
      return hits.incrementAndGet();
    }
  }
}
