// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WaitingTest {

  @Test
  void waitsUntilTheConditionHolds() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    Waiting.await("the third look", () -> looks.incrementAndGet() == 3);
    assertEquals(3, looks.get());
  }

  @Test
  void endsAtOnceWithTheReasonWhyItCannotCome() {
    AtomicInteger looks = new AtomicInteger();
    IllegalStateException vain =
        assertThrows(
            IllegalStateException.class,
            () ->
                Waiting.await(
                    "it rains",
                    () -> false,
                    () -> looks.incrementAndGet() < 2 ? null : "the sky is blue"));
    assertEquals("Waited in vain until it rains: the sky is blue", vain.getMessage());
    assertEquals(2, looks.get());
  }

  @Test
  void whatComesJustBeforeTheReasonCounts() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    Waiting.await("the second look", () -> looks.incrementAndGet() == 2, () -> "it has ended");
    assertEquals(2, looks.get());
  }

  @Test
  void givesTheExitCodeOfAProcess() throws Exception {
    assertEquals(3, Waiting.awaitEnd(new ProcessBuilder("sh", "-c", "exit 3").start()));
  }

  @Test
  void patienceLastsWhileTheMachineIsFrozenOrBusy() {
    assertEquals(0.02, Waiting.counted(0.02, 2, 1), 1e-9);
    assertEquals(0.02, Waiting.counted(0.02, 2, 2), 1e-9);
    assertEquals(0.004, Waiting.counted(0.02, 2, 10), 1e-9);
    assertTrue(Waiting.counted(20, 2, 1) <= 0.1);
  }

  @Test
  void readsHowManyThreadsWantAProcessor() {
    assertEquals(12, Waiting.runnable("6.58 4.39 1.95 12/237 17660\n"));
    assertEquals(1, Waiting.runnable("0.00 0.00 0.00 0/237 17660\n"));
  }
}
