// SPDX-License-Identifier: Apache-2.0

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A server whose cost is known: each request mixes so many numbers, allocates so many bytes, holds the lock of all for
 * so long, waits so long, and the start waits so long. Arguments: address, port, rounds, bytes, milliseconds of the start,
 * and where they are not left out: microseconds of the lock (0), milliseconds of the wait (0), threads (16; 0: a virtual
 * thread for each request).
 */
public final class Server {
  private static volatile long sink;

  /** Seen by every thread, so that no compiler leaves the allocation out. */
  private static volatile byte[] garbage;

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[2]);
    int bytes = Integer.parseInt(arguments[3]);
    long held = arguments.length > 5 ? Long.parseLong(arguments[5]) : 0;
    long waits = arguments.length > 6 ? Long.parseLong(arguments[6]) : 0;
    int threads = arguments.length > 7 ? Integer.parseInt(arguments[7]) : 16;
    // An answer leaves in two pieces: the second would wait up to 40 ms for the client to acknowledge the first.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    Thread.sleep(Long.parseLong(arguments[4]));
    InetSocketAddress address =
        new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    HttpServer server = HttpServer.create(address, 1024);
    byte[] answer = "pong\n".getBytes(StandardCharsets.US_ASCII);
    server.createContext(
        "/ping",
        exchange -> {
          sink = mix(rounds, exchange.hashCode());
          allocate(bytes);
          hold(held);
          pause(waits);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.setExecutor(threads > 0 ? Executors.newFixedThreadPool(threads) : virtualThreads());
    server.start();
    Thread.currentThread().join();
  }

  /** By reflection, so that the same source is one of Java 17. */
  private static ExecutorService virtualThreads() {
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException e) {
      System.err.println("Error: virtual threads need Java 21 or newer: choose another JDK");
      System.exit(1);
      throw new IllegalStateException(e);
    }
  }

  private static void pause(long milliseconds) {
    if (milliseconds > 0) {
      try {
        Thread.sleep(milliseconds);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void allocate(int bytes) {
    garbage = new byte[bytes];
  }

  /** One request after the other, however many threads there are. */
  private static void hold(long microseconds) {
    if (microseconds > 0) {
      synchronized (Server.class) {
        long end = System.nanoTime() + 1000 * microseconds;
        while (System.nanoTime() < end) {
          Thread.onSpinWait();
        }
      }
    }
  }

  /** Steps that depend on each other, so that no compiler leaves any out. */
  private static long mix(int rounds, long seed) {
    long x = seed | 1;
    for (int i = 0; i < rounds; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }
}
