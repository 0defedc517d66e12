// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** A real target that counts what it serves. */
final class PingServer implements AutoCloseable {
  /** What the server does with a request. */
  @FunctionalInterface
  interface Behaviour {
    void answer(HttpExchange exchange) throws IOException;
  }

  static final Behaviour PONG = exchange -> answer(exchange, 200, "pong\n");

  /** Never answers. */
  static final Behaviour SILENCE = exchange -> awaitQuietly(new CountDownLatch(1));

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicLong served = new AtomicLong();
  private final Set<InetSocketAddress> clients = ConcurrentHashMap.newKeySet();

  PingServer(Behaviour behaviour) throws IOException {
    server = newServer(threads);
    server.createContext(
        "/ping",
        exchange -> {
          served.incrementAndGet();
          clients.add(exchange.getRemoteAddress());
          behaviour.answer(exchange);
        });
    server.start();
  }

  /** A server on a free port, not started yet. */
  static HttpServer newServer(Executor threads) throws IOException {
    return newServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), threads);
  }

  /** A server that is not started yet. */
  static HttpServer newServer(InetSocketAddress address, Executor threads) throws IOException {
    // It sends head and body of an answer apart: the body would wait for the client's
    // acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    // By itself it closes connections beyond 200 that are idle, whatever was just sent over them.
    System.setProperty("sun.net.httpserver.maxIdleConnections", "100000");
    // And those that are idle for 30 s, while a user who stood still as long sends over them.
    System.setProperty("sun.net.httpserver.idleInterval", "86400");
    HttpServer server = HttpServer.create(address, 1024);
    server.setExecutor(threads);
    return server;
  }

  static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  /** Waits for others, or until the server is closed. */
  static void awaitQuietly(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException closed) {
      throw new IOException(closed);
    }
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  long served() {
    return served.get();
  }

  /** Connections that requests came over. */
  int connections() {
    return clients.size();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
