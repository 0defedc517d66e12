// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import dev.steelyard.bench.Work;
import dev.steelyard.daytrader7.Trade;
import jakarta.enterprise.context.Dependent;
import jakarta.inject.Inject;
import jakarta.json.JsonException;
import jakarta.json.JsonReader;
import jakarta.json.JsonString;
import jakarta.json.JsonStructure;
import jakarta.json.JsonValue;
import jakarta.websocket.OnClose;
import jakarta.websocket.OnError;
import jakarta.websocket.OnMessage;
import jakarta.websocket.OnOpen;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;
import java.io.IOException;
import java.io.StringReader;
import java.util.logging.Level;
import java.util.logging.Logger;

/** {@code /marketsummary}: answers {@code {"action":"update"}} with the summary. */
@Dependent
@ServerEndpoint("/marketsummary")
public class MarketSummarySocket {

  private static final Logger LOG = Logger.getLogger(MarketSummarySocket.class.getName());
  private static final String UPDATE = "update";

  @Inject private Trade trade;
  @Inject private RecentChanges recent;
  @Inject private MarketFeed feed;
  @Inject private Outbox outbox;

  /** From now on the session is told of changes. */
  @OnOpen
  public void open(Session session) {
    outbox.open(session);
    feed.add(outbox);
  }

  /** Answers; what asks for nothing known has no answer. An answer counts once it is sent. */
  @OnMessage
  public void message(String text) {
    if (UPDATE.equals(action(text))) {
      long start = System.nanoTime();
      String reply = null;
      try {
        reply = SummaryJson.reply(trade.marketSummary(), recent.changes());
      } finally {
        if (reply == null) {
          Work.ended("market-summary", start, true);
        }
      }
      outbox.send(reply, error -> Work.ended("market-summary", start, error));
    }
  }

  private static String action(String text) {
    try (JsonReader reader = SummaryJson.JSON.createReader(new StringReader(text))) {
      JsonStructure json = reader.read();
      JsonValue action = json.asJsonObject().get("action");
      return action instanceof JsonString known ? known.getString() : null;
    } catch (JsonException | ClassCastException e) {
      return null;
    }
  }

  /** The session is told nothing more. */
  @OnClose
  public void close() {
    feed.remove(outbox);
  }

  /** A connection that breaks is closed by the server, which then calls {@link #close()}. */
  @OnError
  public void error(Throwable cause) {
    LOG.log(cause instanceof IOException ? Level.FINE : Level.WARNING, "A websocket failed", cause);
  }
}
