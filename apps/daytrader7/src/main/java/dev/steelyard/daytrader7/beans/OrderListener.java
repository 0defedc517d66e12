// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.beans;

import dev.steelyard.daytrader7.TradeServices;
import dev.steelyard.daytrader7.direct.TradeDirect;
import dev.steelyard.daytrader7.messages.MessageStatistics;
import dev.steelyard.daytrader7.messages.Messages;
import jakarta.annotation.Resource;
import jakarta.ejb.ActivationConfigProperty;
import jakarta.ejb.EJB;
import jakarta.ejb.MessageDriven;
import jakarta.ejb.MessageDrivenContext;
import jakarta.inject.Inject;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Completes the orders of the queue, each in the transaction that takes its message.
 *
 * <p>A message that comes again after an undone transaction is tried again: an order is completed
 * only while it is open, so that none is completed twice.
 */
@MessageDriven(
    activationConfig = {
      @ActivationConfigProperty(
          propertyName = "acknowledgeMode",
          propertyValue = "Auto-acknowledge"),
      @ActivationConfigProperty(
          propertyName = "destinationType",
          propertyValue = "jakarta.jms.Queue")
    })
public class OrderListener implements MessageListener {

  private static final Logger LOG = Logger.getLogger(OrderListener.class.getName());

  @Resource private MessageDrivenContext context;
  @EJB private TradeLocal bean;
  @Inject private TradeDirect direct;
  @Inject private MessageStatistics statistics;

  @Override
  public void onMessage(Message message) {
    try {
      if (message.getJMSRedelivered()) {
        LOG.log(Level.INFO, "Again: {0}", message.getBody(String.class));
      }
      statistics.received(
          "queue",
          message,
          command -> {
            if (command.equals(Messages.NEW_ORDER)) {
              complete(message);
            }
          });
    } catch (JMSException | RuntimeException e) {
      LOG.log(Level.WARNING, "An order was not completed", e);
      context.setRollbackOnly();
    }
  }

  private void complete(Message message) throws JMSException {
    int orderID = message.getIntProperty("orderID");
    boolean twoPhase = message.getBooleanProperty("twoPhase");
    TradeServices services = message.getBooleanProperty("direct") ? direct : bean;
    services.completeOrder(orderID, twoPhase);
  }
}
