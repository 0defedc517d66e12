// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import dev.steelyard.daytrader7.PriceChange;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedScheduledExecutorService;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Tells recent changes to all who are connected, while there is anyone. */
@ApplicationScoped
public class MarketFeed {

  private static final long FIRST_MS = 1000;
  private static final long PERIOD_MS = TimeUnit.SECONDS.toMillis(Long.getLong("dt.ws.period", 2));

  @Resource private ManagedScheduledExecutorService scheduler;
  @Inject private RecentChanges recent;

  private final Set<Outbox> connected = ConcurrentHashMap.newKeySet();
  private Future<?> pushing;
  private List<PriceChange> pushed;

  synchronized void add(Outbox outbox) {
    connected.add(outbox);
    if (pushing == null) {
      pushed = recent.changes();
      pushing =
          scheduler.scheduleAtFixedRate(this::push, FIRST_MS, PERIOD_MS, TimeUnit.MILLISECONDS);
    }
  }

  synchronized void remove(Outbox outbox) {
    connected.remove(outbox);
    if (connected.isEmpty() && pushing != null) {
      pushing.cancel(false);
      pushing = null;
    }
  }

  private synchronized void push() {
    List<PriceChange> changes = recent.changes();
    if (changes != pushed && !changes.isEmpty()) {
      pushed = changes;
      String text = SummaryJson.push(changes);
      connected.forEach(outbox -> outbox.send(text));
    }
  }
}
