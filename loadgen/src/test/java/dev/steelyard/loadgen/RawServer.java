// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** A real target that answers byte by byte what it is told to, and counts what it has read. */
final class RawServer implements AutoCloseable {
  static final String PONG = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npong\n";

  /** What the server does with a request that it has read. */
  @FunctionalInterface
  interface Behaviour {
    /**
     * Answers.
     *
     * @param number of the request on its connection, from 1
     * @return whether the connection stays open
     */
    boolean answer(int number, OutputStream to) throws IOException, InterruptedException;
  }

  private final ServerSocket server;
  private final Behaviour behaviour;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private final AtomicLong served = new AtomicLong();

  RawServer(Behaviour behaviour) throws IOException {
    this.behaviour = behaviour;
    server = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
    var unused =
        threads.submit(
            () -> {
              while (true) {
                Socket client = server.accept();
                clients.add(client);
                var unusedToo = threads.submit(() -> serve(client));
              }
            });
  }

  private Void serve(Socket client) throws IOException, InterruptedException {
    try (client) {
      client.setTcpNoDelay(true);
      InputStream from = new BufferedInputStream(client.getInputStream());
      for (int number = 1; readRequest(from); number++) {
        served.incrementAndGet();
        if (!behaviour.answer(number, client.getOutputStream())) {
          break;
        }
      }
    }
    return null;
  }

  /** Reads head and body; false at the end of the connection. */
  private static boolean readRequest(InputStream from) throws IOException {
    int length = 0;
    for (String line = readLine(from); !line.isEmpty(); line = readLine(from)) {
      if (line.startsWith("content-length:")) {
        length = Integer.parseInt(line.substring(line.indexOf(':') + 1).strip());
      } else if (line.equals(END)) {
        return false;
      }
    }
    return from.readNBytes(length).length == length;
  }

  private static final String END = "end";

  private static String readLine(InputStream from) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = from.read(); next != '\n'; next = from.read()) {
      if (next < 0) {
        return END;
      }
      line.append((char) next);
    }
    return line.toString().strip().toLowerCase(Locale.ROOT);
  }

  static void write(OutputStream to, String text) throws IOException {
    to.write(text.getBytes(StandardCharsets.US_ASCII));
  }

  String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  /** Requests that it has read. */
  long served() {
    return served.get();
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket client : clients) {
      client.close();
    }
    threads.shutdownNow();
  }
}
