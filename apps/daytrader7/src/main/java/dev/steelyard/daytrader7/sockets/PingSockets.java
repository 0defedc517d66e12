// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import jakarta.enterprise.context.Dependent;
import jakarta.inject.Inject;
import jakarta.websocket.OnMessage;
import jakarta.websocket.OnOpen;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** The primitives that answer each message with one of their own. */
public final class PingSockets {

  private PingSockets() {}

  /**
   * Text, answered by the number of messages so far; the answer is sent before the next is read.
   */
  @ServerEndpoint("/pingTextSync")
  public static class TextSync {

    private static final AtomicLong HITS = new AtomicLong();

    /** Answers. */
    @OnMessage
    public void ping(String text, Session session) throws IOException {
      session.getBasicRemote().sendText(Long.toString(HITS.incrementAndGet()));
    }
  }

  /** The same, but nobody waits for the answer to be sent. */
  @Dependent
  @ServerEndpoint("/pingTextAsync")
  public static class TextAsync {

    private static final AtomicLong HITS = new AtomicLong();

    @Inject private Outbox outbox;

    /** Answers go there. */
    @OnOpen
    public void open(Session session) {
      outbox.open(session);
    }

    /** Answers. */
    @OnMessage
    public void ping(String text) {
      outbox.send(Long.toString(HITS.incrementAndGet()));
    }
  }

  /** Bytes, which come back. */
  @ServerEndpoint("/pingBinary")
  public static class Binary {

    /** Answers. */
    @OnMessage
    public void ping(ByteBuffer bytes, Session session) throws IOException {
      session.getBasicRemote().sendBinary(bytes);
    }
  }
}
