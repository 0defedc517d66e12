// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.olio.Stats;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class FragmentsTest {

  private final Stats stats = new Stats();
  private final AtomicLong clock = new AtomicLong();
  private final AtomicInteger made = new AtomicInteger();

  private String make() {
    return "made " + made.incrementAndGet();
  }

  @Test
  void theyAreKeptForTwoMinutesOrUntilSomethingChanges() {
    Fragments fragments = new Fragments(true, stats, clock::get);
    assertEquals("made 1", fragments.get("a", this::make));
    clock.set(TimeUnit.SECONDS.toNanos(119));
    assertEquals("made 1", fragments.get("a", this::make));
    assertEquals("made 2", fragments.get("b", this::make));
    clock.set(TimeUnit.SECONDS.toNanos(120));
    assertEquals("made 3", fragments.get("a", this::make));
    fragments.clear();
    assertEquals("made 4", fragments.get("b", this::make));
    assertEquals(1, stats.get(Stats.Count.CACHE_HITS));
    assertEquals(4, stats.get(Stats.Count.CACHE_MISSES));
  }

  @Test
  void switchedOffNothingIsKept() {
    Fragments fragments = new Fragments(false, stats, clock::get);
    assertEquals("made 1", fragments.get("a", this::make));
    assertEquals("made 2", fragments.get("a", this::make));
  }

  @Test
  void manyWhoAskAtOnceGetOne() throws InterruptedException {
    Fragments fragments = new Fragments(true, stats, clock::get);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Thread thread = new Thread(() -> fragments.get("a", this::make));
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(1, made.get());
  }
}
