// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.messages;

import dev.steelyard.daytrader7.PriceChange;
import dev.steelyard.daytrader7.entities.Quote;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.QueueConnectionFactory;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import jakarta.jms.TopicConnectionFactory;
import java.math.BigDecimal;

/** Sends the messages: each in a context of its own, which joins the transaction of the caller. */
@ApplicationScoped
public class Messages {

  /** The property that says what a message is. */
  public static final String COMMAND = "command";

  /** An order that is to be completed. */
  public static final String NEW_ORDER = "neworder";

  /** A price that has changed. */
  public static final String UPDATE_QUOTE = "updateQuote";

  /** Nothing but a message. */
  public static final String PING = "ping";

  static final String PUBLISH_TIME = "publishTime";

  /** Sets the properties of a message. */
  @FunctionalInterface
  private interface Properties {
    void set(TextMessage message) throws JMSException;
  }

  @Resource(lookup = "jms/TradeBrokerQCF")
  private QueueConnectionFactory brokers;

  @Resource(lookup = "jms/TradeBrokerQueue")
  private Queue broker;

  @Resource(lookup = "jms/TradeStreamerTCF")
  private TopicConnectionFactory streamers;

  @Resource(lookup = "jms/TradeStreamerTopic")
  private Topic streamer;

  /**
   * Asks for the completion of an order. Its message is kept on disk and committed with the order:
   * it is delivered after a crash, too.
   *
   * @param direct whether by JDBC
   */
  public void newOrder(int orderID, boolean twoPhase, boolean direct) {
    send(
        brokers,
        broker,
        DeliveryMode.PERSISTENT,
        NEW_ORDER,
        "Order " + orderID + (direct ? ", direct" : ", beans") + ", twoPhase=" + twoPhase,
        message -> {
          message.setIntProperty("orderID", orderID);
          message.setBooleanProperty("twoPhase", twoPhase);
          if (direct) {
            message.setBooleanProperty("direct", true);
          }
        });
  }

  /** Tells that a price has changed. */
  public void updateQuote(
      Quote quote, BigDecimal oldPrice, BigDecimal changeFactor, double sharesTraded) {
    send(
        streamers,
        streamer,
        DeliveryMode.NON_PERSISTENT,
        UPDATE_QUOTE,
        "Stock " + quote.getSymbol() + " from " + oldPrice + " to " + quote.getPrice(),
        message -> {
          message.setStringProperty("symbol", quote.getSymbol());
          message.setStringProperty("company", quote.getCompanyName());
          message.setStringProperty("price", quote.getPrice().toString());
          message.setStringProperty("oldPrice", oldPrice.toString());
          message.setStringProperty("open", quote.getOpen().toString());
          message.setStringProperty("low", quote.getLow().toString());
          message.setStringProperty("high", quote.getHigh().toString());
          message.setDoubleProperty("volume", quote.getVolume());
          message.setStringProperty("changeFactor", changeFactor.toString());
          message.setDoubleProperty("sharesTraded", sharesTraded);
        });
  }

  /** Sends a message to the queue that only its statistics see. */
  public void pingQueue(String text) {
    send(brokers, broker, DeliveryMode.NON_PERSISTENT, PING, text, message -> {});
  }

  /** Sends a message to the topic that only its statistics see. */
  public void pingTopic(String text) {
    send(streamers, streamer, DeliveryMode.NON_PERSISTENT, PING, text, message -> {});
  }

  /** The change that a message tells of. */
  public static PriceChange priceChange(Message message) throws JMSException {
    return new PriceChange(
        message.getStringProperty("symbol"),
        message.getStringProperty("company"),
        new BigDecimal(message.getStringProperty("price")),
        new BigDecimal(message.getStringProperty("oldPrice")),
        new BigDecimal(message.getStringProperty("open")),
        new BigDecimal(message.getStringProperty("low")),
        new BigDecimal(message.getStringProperty("high")),
        message.getDoubleProperty("volume"),
        new BigDecimal(message.getStringProperty("changeFactor")),
        message.getDoubleProperty("sharesTraded"));
  }

  private static void send(
      ConnectionFactory factory,
      Destination destination,
      int delivery,
      String command,
      String text,
      Properties properties) {
    try (JMSContext context = factory.createContext()) {
      TextMessage message = context.createTextMessage(text);
      message.setStringProperty(COMMAND, command);
      message.setLongProperty(PUBLISH_TIME, System.currentTimeMillis());
      properties.set(message);
      context.createProducer().setDeliveryMode(delivery).send(destination, message);
    } catch (JMSException e) {
      throw new IllegalStateException("A message was not sent", e);
    }
  }
}
