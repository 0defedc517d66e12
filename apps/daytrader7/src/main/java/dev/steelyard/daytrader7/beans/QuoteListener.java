// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.beans;

import dev.steelyard.daytrader7.PriceChange;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.messages.MessageStatistics;
import dev.steelyard.daytrader7.messages.Messages;
import jakarta.annotation.Resource;
import jakarta.ejb.ActivationConfigProperty;
import jakarta.ejb.MessageDriven;
import jakarta.ejb.MessageDrivenContext;
import jakarta.enterprise.event.Event;
import jakarta.inject.Inject;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Hears of changed prices, and tells those of the first symbols on to the websockets. */
@MessageDriven(
    activationConfig = {
      @ActivationConfigProperty(
          propertyName = "acknowledgeMode",
          propertyValue = "Auto-acknowledge"),
      @ActivationConfigProperty(
          propertyName = "destinationType",
          propertyValue = "jakarta.jms.Topic"),
      @ActivationConfigProperty(
          propertyName = "subscriptionDurability",
          propertyValue = "NonDurable")
    })
public class QuoteListener implements MessageListener {

  private static final Logger LOG = Logger.getLogger(QuoteListener.class.getName());

  @Resource private MessageDrivenContext context;
  @Inject private Event<PriceChange> changes;
  @Inject private MessageStatistics statistics;
  @Inject private TradeConfig config;

  @Override
  public void onMessage(Message message) {
    try {
      statistics.received(
          "topic",
          message,
          command -> {
            if (command.equals(Messages.UPDATE_QUOTE)
                && reachesWebsockets(message.getStringProperty("symbol"))) {
              changes.fire(Messages.priceChange(message));
            }
          });
    } catch (JMSException | RuntimeException e) {
      LOG.log(Level.WARNING, "A price change was not heard", e);
      context.setRollbackOnly();
    }
  }

  private boolean reachesWebsockets(String symbol) {
    // The product of the two settings may pass the range of an int.
    long first = (long) config.maxQuotes() * config.percentToWebsocket() / 100;
    return Integer.parseInt(symbol.substring(2)) < first;
  }
}
