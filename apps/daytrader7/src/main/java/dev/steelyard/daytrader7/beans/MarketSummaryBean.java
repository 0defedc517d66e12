// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.beans;

import dev.steelyard.daytrader7.MarketSummary;
import dev.steelyard.daytrader7.RunMode;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.data.Tables;
import dev.steelyard.daytrader7.entities.Quote;
import jakarta.annotation.PostConstruct;
import jakarta.ejb.Lock;
import jakarta.ejb.LockType;
import jakarta.ejb.Schedule;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.PersistenceException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The market summary of the Enterprise Beans: made anew at every second divisible by 20. */
@Singleton
@Startup
@Lock(LockType.READ)
public class MarketSummaryBean {

  private static final Logger LOG = Logger.getLogger(MarketSummaryBean.class.getName());

  @PersistenceContext(unitName = "daytrader")
  private EntityManager entities;

  @Inject private Tables tables;
  @Inject private TradeConfig config;

  private volatile MarketSummary summary = MarketSummary.EMPTY;

  /** A first summary; a database that is not there, or has no tables, has none yet. */
  @PostConstruct
  @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
  void begin() {
    try {
      if (tables.exist()) {
        refresh();
      }
    } catch (PersistenceException | TradeException e) {
      LOG.log(Level.WARNING, "No market summary yet", e);
    }
  }

  /** The latest. While it has no stocks, each caller looks for those that another JVM made. */
  @TransactionAttribute(TransactionAttributeType.SUPPORTS)
  public MarketSummary current() {
    if (summary.isEmpty() && tables.exist()) {
      refresh();
    }
    return summary;
  }

  /** Told by the timer; direct mode makes summaries of its own. */
  @Lock(LockType.WRITE)
  @Schedule(hour = "*", minute = "*", second = "*/20", persistent = false)
  void tick() {
    if (config.runMode() == RunMode.EJB && tables.exist()) {
      refresh();
    }
  }

  /** Makes it anew now: one statement that reads all stocks. */
  @Lock(LockType.WRITE)
  public void refresh() {
    summary =
        MarketSummary.of(
            entities
                .createQuery("SELECT q FROM Quote q ORDER BY q.change DESC", Quote.class)
                .getResultList());
  }
}
