// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import jakarta.ejb.Local;
import java.util.List;

/** {@link PingBean} called by reference. */
@Local
public interface PingLocal {

  /** As {@link PingRemote#investmentReturn(double, double)}. */
  double investmentReturn(double investment, double worth);

  /** A stock by the entity manager. */
  Quote entity(String symbol);

  /** A stock by JDBC. */
  Quote quoteByJdbc(String symbol);

  /** Holdings by JDBC. */
  List<Holding> holdingsByJdbc(String userID);

  /** A stock, and a message to the queue, in one transaction of both. */
  Quote quoteAndMessage(String symbol);
}
