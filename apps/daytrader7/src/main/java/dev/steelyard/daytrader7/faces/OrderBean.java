// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.entities.TradeOrder;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Named;

/** The order that was just made. */
@Named("ordered")
@RequestScoped
public class OrderBean {

  private TradeOrder order;

  /** Takes the order; the answer is the page that shows it. */
  String show(TradeOrder newOrder) {
    order = newOrder;
    return "order";
  }

  public TradeOrder getOrder() {
    return order;
  }
}
