// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.simulation.Control.Ending;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ControlTest {
  @Test
  void admitsUntilTheDeadlineAndDrainsAfterTheStop() {
    Control control = new Control(1);
    control.endAt(100);
    assertTrue(control.admit(0, 99));
    assertFalse(control.admit(0, 100));
    assertEquals(1, control.inFlight());
    assertFalse(control.drained());
    control.stop(Ending.STOP_FILE, 50);
    control.stop(Ending.TIME, 60);
    assertFalse(control.admit(0, 51));
    assertFalse(control.drained());
    control.leave(0);
    assertTrue(control.drained());
    assertEquals(Ending.STOP_FILE, control.ending());
    assertEquals(50, control.stoppedAt());
  }

  /** Once drained, nothing is in flight and nothing starts, however users race with the stop. */
  @Test
  void nothingStartsOnceDrained() throws InterruptedException {
    for (int round = 0; round < 200; round++) {
      Control control = new Control(1);
      AtomicBoolean drained = new AtomicBoolean();
      AtomicBoolean broken = new AtomicBoolean();
      CountDownLatch started = new CountDownLatch(2);
      Thread[] users = new Thread[2];
      for (int i = 0; i < users.length; i++) {
        users[i] =
            new Thread(
                () -> {
                  started.countDown();
                  while (control.admit(0, 0)) {
                    broken.compareAndSet(false, drained.get());
                    control.leave(0);
                  }
                });
        users[i].start();
      }
      started.await();
      control.stop(Ending.TIME, 0);
      while (!control.drained()) {
        Thread.onSpinWait();
      }
      drained.set(true);
      for (Thread user : users) {
        user.join();
      }
      assertFalse(broken.get());
    }
  }

  /** Users who go on asking after the end, and may stand still while they do, leave no request. */
  @Test
  void whoAsksAfterTheEndAbandonsNothing() throws InterruptedException {
    Control control = new Control(1);
    control.stop(Ending.STOP_FILE, 0);
    assertTrue(control.drained());
    AtomicBoolean read = new AtomicBoolean();
    Thread[] users = new Thread[4];
    CountDownLatch asking = new CountDownLatch(users.length);
    for (int i = 0; i < users.length; i++) {
      users[i] =
          new Thread(
              () -> {
                while (!read.get()) {
                  control.admit(0, 0);
                  asking.countDown();
                }
              });
      users[i].start();
    }
    asking.await();
    long abandoned = 0;
    for (int look = 0; look < 100_000; look++) {
      abandoned += control.abandoned(0);
    }
    read.set(true);
    for (Thread user : users) {
      user.join();
    }
    assertEquals(0, abandoned);
  }
}
