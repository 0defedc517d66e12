// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.websocket.RemoteEndpoint;
import jakarta.websocket.Session;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whoever sends hears once of each message whether it was sent. */
final class OutboxTest {

  private final List<Boolean> errors = new ArrayList<>();
  private final List<Runnable> started = new ArrayList<>();
  private final Outbox outbox = new Outbox();

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private void open(boolean broken) {
    RemoteEndpoint.Basic remote =
        proxy(
            RemoteEndpoint.Basic.class,
            (self, method, arguments) -> {
              if (broken) {
                throw new IOException("Broken pipe");
              }
              return null;
            });
    outbox.open(proxy(Session.class, (self, method, arguments) -> remote));
    outbox.executor =
        proxy(
            ManagedExecutorService.class,
            (self, method, arguments) -> {
              started.add((Runnable) arguments[0]);
              return null;
            });
  }

  private void send(int messages) {
    for (int i = 0; i < messages; i++) {
      outbox.send("text", errors::add);
    }
  }

  @Test
  void aMessageIsNotSentBeforeItsTurn() {
    open(false);
    send(2);
    assertEquals(List.of(), errors);
    started.forEach(Runnable::run);
    assertEquals(List.of(false, false), errors);
  }

  @Test
  void allThatWaitsForABrokenConnectionHasFailed() {
    open(true);
    send(3);
    started.forEach(Runnable::run);
    send(1);
    assertEquals(List.of(true, true, true, true), errors);
  }

  @Test
  void whatASlowClientLeavesUnreadHasFailed() {
    open(false);
    send(1001);
    assertEquals(1001, Collections.frequency(errors, true));
  }
}
