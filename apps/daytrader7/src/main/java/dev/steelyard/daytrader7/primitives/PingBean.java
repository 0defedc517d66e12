// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import dev.steelyard.daytrader7.direct.TradeDirect;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.messages.Messages;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.util.List;

/** The session bean of the primitives; each call is a transaction of the container. */
@Stateless
public class PingBean implements PingLocal, PingRemote {

  @PersistenceContext(unitName = "daytrader")
  private EntityManager entities;

  @Inject private TradeDirect direct;
  @Inject private Messages messages;

  @Override
  public double investmentReturn(double investment, double worth) {
    return (worth - investment) / investment * 100;
  }

  @Override
  public Quote entity(String symbol) {
    return entities.find(Quote.class, symbol);
  }

  @Override
  public Quote quoteByJdbc(String symbol) {
    return direct.quote(symbol);
  }

  @Override
  public List<Holding> holdingsByJdbc(String userID) {
    return direct.holdings(userID);
  }

  @Override
  public Quote quoteAndMessage(String symbol) {
    Quote quote = entity(symbol);
    messages.pingQueue("Ping of the queue, in one transaction with a read of " + symbol);
    return quote;
  }
}
