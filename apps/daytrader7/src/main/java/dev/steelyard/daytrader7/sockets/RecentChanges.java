// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import dev.steelyard.daytrader7.PriceChange;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.ArrayList;
import java.util.List;

/** The last five changes of prices, the newest first. */
@ApplicationScoped
public class RecentChanges {

  private static final int KEPT = 5;

  private volatile List<PriceChange> changes = List.of();

  synchronized void changed(@Observes PriceChange change) {
    List<PriceChange> now = new ArrayList<>(KEPT);
    now.add(change);
    now.addAll(changes.subList(0, Math.min(KEPT - 1, changes.size())));
    changes = List.copyOf(now);
  }

  /** A list that is never changed: another one is another state. */
  List<PriceChange> changes() {
    return changes;
  }
}
