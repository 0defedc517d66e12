// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import jakarta.websocket.RemoteEndpoint;
import jakarta.websocket.SendHandler;
import jakarta.websocket.SendResult;
import jakarta.websocket.Session;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * All that is sent to one session goes through here: one message after the other, whoever sends,
 * and nobody waits for a slow client.
 */
final class Outbox implements SendHandler {

  /** A client that leaves more than this unread is lost. */
  private static final int MOST_WAITING = 1000;

  private final RemoteEndpoint.Async remote;
  private final Queue<Object> waiting = new ArrayDeque<>();
  private boolean sending;
  private boolean lost;

  Outbox(Session session) {
    remote = session.getAsyncRemote();
  }

  /**
   * Sends a message as soon as those before it are sent.
   *
   * @param message a text, or what the endpoint has an encoder for
   */
  void send(Object message) {
    synchronized (this) {
      lost |= waiting.size() >= MOST_WAITING;
      if (lost) {
        waiting.clear();
        return;
      }
      waiting.add(message);
      if (sending) {
        return;
      }
      sending = true;
    }
    sendNext();
  }

  /** How many messages wait. */
  synchronized int size() {
    return waiting.size();
  }

  @Override
  public void onResult(SendResult result) {
    if (result.isOK()) {
      sendNext();
    } else {
      lose();
    }
  }

  private void sendNext() {
    Object message;
    synchronized (this) {
      message = waiting.poll();
      if (message == null) {
        sending = false;
        return;
      }
    }
    try {
      if (message instanceof String text) {
        remote.sendText(text, this);
      } else {
        remote.sendObject(message, this);
      }
    } catch (RuntimeException closed) {
      lose();
    }
  }

  private synchronized void lose() {
    lost = true;
    waiting.clear();
  }
}
