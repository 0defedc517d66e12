// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.bench.OperationCounters.Totals;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class OperationCountersTest {

  @Test
  void everyRequestOfManyThreadsIsCounted() throws Exception {
    int threads = 8;
    int perThread = 200_000;
    OperationCounters counters = new OperationCounters(Set.of("ping", "login"));
    CountDownLatch together = new CountDownLatch(threads);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      var running =
          IntStream.range(0, threads)
              .<Future<?>>mapToObj(
                  thread ->
                      executor.submit(
                          () -> {
                            together.countDown();
                            together.await();
                            for (int i = 0; i < perThread; i++) {
                              counters.record(i % 4 == 0 ? "login" : "ping", 7, i % 10 == 0);
                            }
                            return null;
                          }))
              .toList();
      for (Future<?> future : running) {
        future.get();
      }
    } finally {
      executor.shutdownNow();
    }

    // Of each 20 requests 5 are logins (0, 4, 8, 12, 16); errors are 0 (a login) and 10 (a ping).
    long twenties = (long) threads * perThread / 20;
    assertEquals(
        Map.of(
            "login", new Totals(5 * twenties, twenties, 35 * twenties),
            "ping", new Totals(15 * twenties, twenties, 105 * twenties)),
        counters.totals());
  }

  @Test
  void anUnknownOperationIsCountedAsOther() {
    OperationCounters counters = new OperationCounters(Set.of("ping"));
    assertEquals(Map.of("ping", new Totals(0, 0, 0)), counters.totals());

    counters.record("' or 1=1 --", 3, true);
    counters.record("elsewhere", 4, false);

    assertEquals(
        Map.of("ping", new Totals(0, 0, 0), OperationCounters.OTHER, new Totals(2, 1, 7)),
        counters.totals());
  }
}
