// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.testkit.AllocatedBytes;
import dev.steelyard.testkit.PackagedServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The bytes that a request of each operation makes servers allocate, calls between them and work
 * after the answer included. What they allocate without requests, 70 KiB/s each, is left out: with
 * it figures would depend on how fast the machine is.
 */
final class RequestBytes {

  /** How far from its figure an operation may be: JDKs differ, and runs by a few percent. */
  private static final double BAND = 0.15;

  private static final int WARM_UP = 40;

  /**
   * Of requests; their median leaves out what a server does once, of several megabytes at times.
   */
  private static final int ROUNDS = 5;

  private static final int REQUESTS = 50;

  /** Between two looks: a request has more, what servers do by themselves has less. */
  private static final double AT_REST = 50_000;

  private static final long LOOK_MILLIS = 200;

  /** A server by itself allocates 100 KiB at once, every two seconds. */
  private static final long IDLE_MILLIS = 2000;

  interface Operation {
    void perform() throws Exception;
  }

  private record Reading(long nanos, long bytes) {

    double rateUntil(Reading later) {
      return (later.bytes - bytes) / (double) (later.nanos - nanos);
    }
  }

  private record Round(long nanos, long bytes) {}

  private final List<AllocatedBytes> servers = new ArrayList<>();
  private final Map<String, List<Round>> measured = new TreeMap<>();

  RequestBytes(List<PackagedServer> servers) throws Exception {
    for (PackagedServer server : servers) {
      this.servers.add(new AllocatedBytes(server.process().pid()));
    }
  }

  /** Performs an operation often enough, and keeps what it took. */
  void measure(String name, Operation operation) throws Exception {
    for (int i = 0; i < WARM_UP; i++) {
      operation.perform();
    }
    List<Round> rounds = new ArrayList<>();
    Reading before = atRest();
    while (rounds.size() < ROUNDS) {
      for (int i = 0; i < REQUESTS; i++) {
        operation.perform();
      }
      Reading after = atRest();
      rounds.add(new Round(after.nanos - before.nanos, after.bytes - before.bytes));
      before = after;
    }
    measured.put(name, rounds);
  }

  /** That the figures are those that are known, KiB of a request, but for a part of each. */
  void assertAre(Map<String, Integer> known) throws Exception {
    double idle = idle();
    Map<String, Long> found = new TreeMap<>();
    measured.forEach((name, rounds) -> found.put(name, kib(rounds, idle)));
    System.out.println("KiB of a request: " + found);
    assertAll(
        found.toString(),
        known.entrySet().stream()
            .map(
                each ->
                    () ->
                        assertEquals(
                            each.getValue(),
                            found.get(each.getKey()),
                            BAND * each.getValue(),
                            each.getKey())));
  }

  private static long kib(List<Round> rounds, double idle) {
    return Math.round(
        median(
            rounds.stream()
                .mapToDouble(round -> (round.bytes - idle * round.nanos) / REQUESTS / 1024)
                .toArray()));
  }

  /**
   * Bytes a nanosecond without requests, the median of windows: one of them may hold a burst of
   * megabytes, which as a rate would be more than requests allocate. Asked at the end: a server
   * that has just started has more to do.
   */
  private double idle() throws Exception {
    double[] rates = new double[ROUNDS];
    Reading before = atRest();
    for (int i = 0; i < ROUNDS; i++) {
      Thread.sleep(IDLE_MILLIS);
      Reading after = read();
      rates[i] = before.rateUntil(after);
      before = after;
    }
    return median(rates);
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private Reading atRest() throws Exception {
    Reading last = read();
    while (true) {
      Thread.sleep(LOOK_MILLIS);
      Reading now = read();
      if (now.bytes - last.bytes < AT_REST * servers.size()) {
        return now;
      }
      last = now;
    }
  }

  private Reading read() throws Exception {
    long sum = 0;
    for (AllocatedBytes server : servers) {
      sum += server.sum();
    }
    return new Reading(System.nanoTime(), sum);
  }
}
