// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.beans;

import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.messages.Messages;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;
import java.math.BigDecimal;

/** Publishes a changed price in a transaction of its own, so that no database takes part in it. */
@Stateless
public class QuotePublisher {

  @Inject private Messages messages;

  /** Sends the message. */
  @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
  public void publish(
      Quote quote, BigDecimal oldPrice, BigDecimal changeFactor, double sharesTraded) {
    messages.updateQuote(quote, oldPrice, changeFactor, sharesTraded);
  }
}
