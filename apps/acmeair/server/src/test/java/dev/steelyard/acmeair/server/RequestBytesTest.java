// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.acmeair.server.RequestBytes.Meter;
import dev.steelyard.acmeair.server.RequestBytes.Reading;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A request has the same bytes however long it takes, and whatever servers do meanwhile. */
final class RequestBytesTest {

  private static final int KIB = 1024;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final long REQUESTS_OF_A_ROUND = 50;

  private long nanos;
  private double bytes;

  /** Of a server without requests, in a second. */
  private double idle = 70 * KIB;

  /** The servers' own megabytes come at once, and seldom. */
  private long nextBurst = Long.MAX_VALUE;

  private void pass(long time) {
    bytes += idle * time / SECOND;
    nanos += time;
    if (nanos >= nextBurst) {
      bytes += 4 * KIB * KIB;
      nextBurst += 30 * SECOND;
    }
  }

  private final Meter meter =
      new Meter() {
        @Override
        public Reading read() {
          return new Reading(nanos, Math.round(bytes));
        }

        @Override
        public Reading readAfter(Reading last, long time) {
          pass(Math.max(0, last.nanos() + time - nanos));
          return read();
        }
      };

  @ParameterizedTest
  @CsvSource({
    "1, 1, false",
    "5, 1, false",
    "1, 0.5, false",
    "5, 0.5, false",
    "1, 1, true",
    "5, 1, true"
  })
  void aRequestHasTheSameBytes(int secondsOfARound, double idleUnderLoad, boolean bursts)
      throws Exception {
    RequestBytes measured = new RequestBytes(meter, 1);
    idle *= idleUnderLoad;
    nextBurst = bursts ? 12 * SECOND : nextBurst;
    measured.measure(
        "login",
        () -> {
          bytes += 100 * KIB;
          pass(secondsOfARound * SECOND / REQUESTS_OF_A_ROUND);
        });
    // The machine is another's no more.
    idle /= idleUnderLoad;
    measured.assertAre(Map.of("login", 100));
    assertEquals(Map.of("login", 100L), measured.kib());
  }
}
