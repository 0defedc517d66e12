// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.TradeConfig;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What the sessions of {@code /scenario} share: the deck of users, and what is yet to be sold. */
@ApplicationScoped
public class ScenarioState {

  @Inject private TradeConfig config;

  private final AtomicInteger sellDeficit = new AtomicInteger();
  private final AtomicLong requests = new AtomicLong();
  private final AtomicInteger registered = new AtomicInteger();
  private List<Integer> deck = List.of();
  private int next;

  /** The next user: nobody comes twice before all have come. */
  synchronized String nextUser() {
    int users = config.maxUsers();
    if (next == deck.size() || deck.size() != users) {
      deck = new ArrayList<>(users);
      for (int i = 0; i < users; i++) {
        deck.add(i);
      }
      Collections.shuffle(deck);
      next = 0;
    }
    return "uid:" + deck.get(next++);
  }

  /** Somebody had nothing to sell. */
  void owesASell() {
    sellDeficit.incrementAndGet();
  }

  /** Whether a buy is to be a sell, which makes up for one that could not be. */
  boolean takeASell() {
    return sellDeficit.getAndUpdate(owed -> Math.max(0, owed - 1)) > 0;
  }

  /** A number that no other new user of this JVM has. */
  int nextRegistered() {
    return registered.getAndIncrement();
  }

  void countRequest() {
    requests.incrementAndGet();
  }

  /** Requests since the last reset. */
  public long requests() {
    return requests.get();
  }

  /** Begins to count anew. */
  public void clearRequests() {
    requests.set(0);
  }
}
