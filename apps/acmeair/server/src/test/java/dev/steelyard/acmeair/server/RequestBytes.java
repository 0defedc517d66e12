// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.testkit.AllocatedBytes;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;

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

  /** Where the machine stalls in some of them: the shortest count. */
  private static final int MOST_ROUNDS = 15;

  /** Times the shortest round: in a longer one, what is left out weighs too much. */
  private static final int TOO_LONG = 3;

  private static final int REQUESTS = 50;

  /** In the time between two looks: a request has more, what servers do by themselves has less. */
  private static final double AT_REST = 50_000;

  private static final long LOOK_NANOS = Duration.ofMillis(200).toNanos();

  /** A server by itself allocates 100 KiB at once, every two seconds. */
  private static final long IDLE_NANOS = Duration.ofSeconds(2).toNanos();

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
    measure(name, () -> {}, operation);
  }

  /**
   * The same for an operation that uses something up, of which there is enough for the usual
   * rounds.
   *
   * @param supply makes another one of it, for further rounds
   */
  void measure(String name, Operation supply, Operation operation) throws Exception {
    for (int i = 0; i < WARM_UP; i++) {
      operation.perform();
    }
    List<Round> rounds = new ArrayList<>();
    Reading before = atRest();
    while (rounds.size() < ROUNDS || (tooLong(rounds) && rounds.size() < MOST_ROUNDS)) {
      if (rounds.size() >= ROUNDS) {
        for (int i = 0; i < REQUESTS; i++) {
          supply.perform();
        }
        before = atRest();
      }
      for (int i = 0; i < REQUESTS; i++) {
        operation.perform();
      }
      Reading after = atRest();
      rounds.add(new Round(after.nanos - before.nanos, after.bytes - before.bytes));
      before = after;
    }
    measured.put(name, shortest(rounds));
  }

  private static boolean tooLong(List<Round> rounds) {
    List<Round> shortest = shortest(rounds);
    return shortest.get(ROUNDS - 1).nanos > TOO_LONG * shortest.get(0).nanos;
  }

  private static List<Round> shortest(List<Round> rounds) {
    return rounds.stream().sorted(Comparator.comparingLong(Round::nanos)).limit(ROUNDS).toList();
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
      Reading after = readAfter(before, IDLE_NANOS);
      rates[i] = before.rateUntil(after);
      before = after;
    }
    return median(rates);
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  /** As a rate: two looks may be far from each other on a machine that stalls. */
  private Reading atRest() throws Exception {
    AtomicReference<Reading> last = new AtomicReference<>(read());
    Waiting.await(
        "the servers allocate little without requests",
        () -> {
          Reading now = readAfter(last.get(), LOOK_NANOS);
          double bytes = last.getAndSet(now).rateUntil(now) * LOOK_NANOS;
          return bytes < AT_REST * servers.size();
        });
    return last.get();
  }

  /** What was allocated when so much time has passed. */
  private Reading readAfter(Reading last, long nanos) throws IOException, InterruptedException {
    Waiting.await("time has passed", () -> System.nanoTime() - last.nanos >= nanos);
    return read();
  }

  @SuppressWarnings("CatchingUnchecked") // The attach interface throws more than one kind.
  private Reading read() throws IOException {
    long sum = 0;
    for (AllocatedBytes server : servers) {
      try {
        sum += server.sum();
      } catch (Exception e) {
        throw new IOException(e);
      }
    }
    return new Reading(System.nanoTime(), sum);
  }
}
