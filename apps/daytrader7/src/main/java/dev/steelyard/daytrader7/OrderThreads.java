// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.daytrader7.direct.TwoPhase;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedThreadFactory;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Completes orders of the managed-thread mode: each on a thread of its own, after a while. */
@ApplicationScoped
public class OrderThreads {

  private static final Logger LOG = Logger.getLogger(OrderThreads.class.getName());
  private static final long DELAY_MILLIS = 500;

  @Resource private ManagedThreadFactory threads;
  @Inject private TwoPhase transactions;

  /** Completes an order that has been committed, in a global transaction. */
  public void completeLater(TradeServices services, int orderID) {
    threads.newThread(() -> complete(services, orderID)).start();
  }

  private void complete(TradeServices services, int orderID) {
    try {
      Thread.sleep(DELAY_MILLIS);
      transactions.run(() -> services.completeOrder(orderID, true));
    } catch (InterruptedException e) {
      // The server ends; the order stays open, as it would had it ended a moment earlier.
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "Order " + orderID + " stays open", e);
    }
  }
}
