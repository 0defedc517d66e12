// SPDX-License-Identifier: Apache-2.0

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM as the sampler sees it: many named threads of which some do a little work, live heap, and counters over HTTP.
 * Arguments: number of application threads, how many of them work, MiB of live heap. Prints its port.
 */
final class SampledServer {

  private static volatile long sink;

  private SampledServer() {}

  public static void main(String[] args) throws IOException {
    int threads = Integer.parseInt(args[0]);
    int working = Integer.parseInt(args[1]);
    byte[][] live = new byte[Integer.parseInt(args[2]) * 16][1 << 16];
    AtomicLong requests = new AtomicLong();
    for (int i = 0; i < threads; i++) {
      boolean works = i < working;
      Thread thread = new Thread(() -> run(works, live, requests), "Default Executor-thread-" + (i + 1));
      thread.setDaemon(true);
      thread.start();
    }
    HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/bench/counters", exchange -> {
      byte[] body = ("{\"uptimeNanos\":" + System.nanoTime() + ",\"epochMillis\":" + System.currentTimeMillis()
          + ",\"operations\":{\"ping\":{\"requests\":" + requests.get() + ",\"errors\":0,\"serviceTimeNanos\":"
          + requests.get() * 1000 + "}}}").getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(body);
      }
    });
    http.setExecutor(Executors.newFixedThreadPool(2));
    http.start();
    System.out.println(http.getAddress().getPort());
  }

  /** A worker wakes 50 times a second for a moment; the others sleep, as most threads of a server do. */
  private static void run(boolean works, byte[][] live, AtomicLong requests) {
    while (true) {
      LockSupport.parkNanos(works ? 20_000_000L : 1_000_000_000L);
      long sum = 0;
      for (int i = 0; works && i < 20_000; i++) {
        sum += live[i % live.length][i];
      }
      sink = sum;
      if (works) {
        requests.incrementAndGet();
      }
    }
  }
}
