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

  private static final int REQUESTS = 50;

  /** In the time between two looks: a request has more, what servers do by themselves has less. */
  private static final double AT_REST = 50_000;

  private static final long LOOK_NANOS = Duration.ofMillis(200).toNanos();

  /** Looks may be far from each other on a machine that stalls; a longer one may hide no more. */
  private static final double LONGEST_LOOK = 2;

  interface Operation {
    void perform() throws Exception;
  }

  /** What servers had allocated at a time. */
  record Reading(long nanos, long bytes) {}

  /** Reads what servers have allocated. */
  interface Meter {
    /** As it is now. */
    Reading read() throws IOException, InterruptedException;

    /** As it is when so much time has passed since another reading. */
    Reading readAfter(Reading last, long nanos) throws IOException, InterruptedException;
  }

  private record Attached(List<AllocatedBytes> servers) implements Meter {

    @Override
    public Reading readAfter(Reading last, long nanos) throws IOException, InterruptedException {
      Waiting.await("time has passed", () -> System.nanoTime() - last.nanos >= nanos);
      return read();
    }

    @Override
    @SuppressWarnings("CatchingUnchecked") // The attach interface throws more than one kind.
    public Reading read() throws IOException {
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

  private final Meter meter;
  private final double atRest;
  private final Map<String, Long> kib = new TreeMap<>();

  RequestBytes(List<PackagedServer> servers) throws Exception {
    this(attached(servers), servers.size());
  }

  RequestBytes(Meter meter, int servers) {
    this.meter = meter;
    atRest = AT_REST * servers;
  }

  private static Meter attached(List<PackagedServer> servers) throws Exception {
    List<AllocatedBytes> attached = new ArrayList<>();
    for (PackagedServer server : servers) {
      attached.add(new AllocatedBytes(server.process().pid()));
    }
    return new Attached(attached);
  }

  /**
   * Performs an operation often enough, and keeps what it took. After each round comes as much time
   * without requests, and what servers allocate in it is taken off: it is of the same minute, and
   * however long a round was on a busy machine, as much is left out.
   */
  void measure(String name, Operation operation) throws Exception {
    for (int i = 0; i < WARM_UP; i++) {
      operation.perform();
    }
    double[] rounds = new double[ROUNDS];
    Reading before = atRest();
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < REQUESTS; i++) {
        operation.perform();
      }
      Reading after = atRest();
      Reading idle = meter.readAfter(after, after.nanos - before.nanos);
      double idleRate = (idle.bytes - after.bytes) / (double) (idle.nanos - after.nanos);
      rounds[round] = after.bytes - before.bytes - idleRate * (after.nanos - before.nanos);
      before = idle;
    }
    Arrays.sort(rounds);
    kib.put(name, Math.round(rounds[ROUNDS / 2] / REQUESTS / 1024));
  }

  /** KiB of a request of each operation. */
  Map<String, Long> kib() {
    return kib;
  }

  /** That the figures are those that are known, KiB of a request, but for a part of each. */
  void assertAre(Map<String, Integer> known) {
    System.out.println("KiB of a request: " + kib);
    assertAll(
        kib.toString(),
        known.entrySet().stream()
            .map(
                each ->
                    () ->
                        assertEquals(
                            each.getValue(),
                            kib.get(each.getKey()),
                            BAND * each.getValue(),
                            each.getKey())));
  }

  private Reading atRest() throws Exception {
    AtomicReference<Reading> last = new AtomicReference<>(meter.read());
    Waiting.await(
        "the servers allocate little without requests",
        () -> {
          Reading now = meter.readAfter(last.get(), LOOK_NANOS);
          Reading before = last.getAndSet(now);
          double looks = (double) (now.nanos - before.nanos) / LOOK_NANOS;
          return now.bytes - before.bytes < atRest * Math.min(looks, LONGEST_LOOK);
        });
    return last.get();
  }
}
