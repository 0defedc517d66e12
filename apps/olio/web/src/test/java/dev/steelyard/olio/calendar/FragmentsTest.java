// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.olio.Stats;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
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
    clock.set(Duration.ofSeconds(119).toNanos());
    assertEquals("made 1", fragments.get("a", this::make));
    assertEquals("made 2", fragments.get("b", this::make));
    clock.set(Duration.ofMinutes(2).toNanos());
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
  void manyWhoAskAtOnceGetOne() throws IOException, InterruptedException {
    Fragments fragments = new Fragments(true, stats, clock::get);
    CountDownLatch done = new CountDownLatch(1);
    Set<String> got = ConcurrentHashMap.newKeySet();
    Runnable asking =
        () ->
            got.add(
                fragments.get(
                    "a",
                    () -> {
                      String text = make();
                      try {
                        done.await();
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                      return text;
                    }));
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Thread thread = new Thread(asking);
      threads.add(thread);
      thread.start();
    }
    // One makes it and the others wait for that one: who is not waiting has not asked yet.
    Waiting.await(
        "all have asked",
        () ->
            threads.stream()
                .allMatch(
                    each ->
                        each.getState() == Thread.State.WAITING
                            || each.getState() == Thread.State.BLOCKED));
    assertEquals(1, made.get());
    done.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(1, made.get());
    assertEquals(Set.of("made 1"), got);
  }
}
