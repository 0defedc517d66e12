// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.scenario.Scenarios;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who takes an arrival, and when; the event loop runs when the test has it run. */
class WaitingSlotsTest {
  private static final int SLOTS = 50;
  private static final String SETTINGS =
      """
      {"journey": {"visits": {"v": {"steps": [{"operation": "a", "path": "/"}]}}},
       "targets": ["http://127.0.0.1:9"], "model": "open", "rate": 1000, "measureSeconds": 60,
       "output": "%s"}
      """;

  @TempDir Path folder;

  private final MockTicker time = Ticker.newMockTicker();
  private final WaitingSlots waiting = new WaitingSlots();

  /** The slots that started an arrival, in order. */
  private final List<Integer> started = new ArrayList<>();

  private ManualIoEventLoop loop;
  private List<OpenUser> slots;

  @BeforeEach
  void slotsThatCameInOrder() throws IOException {
    var factory = NioIoHandler.newFactory();
    loop = new ManualIoEventLoop(null, Thread.currentThread(), factory, time);
    String json = SETTINGS.formatted(folder.resolve("out"));
    Settings settings = SettingsReader.readVariable("TEST", json, Instant.EPOCH);
    Run run = new Run(settings, Scenarios.of(settings), new RunClock(time::nanoTime));
    slots = IntStream.range(0, SLOTS).mapToObj(i -> run.newOpenUser()).toList();
    IntStream.range(0, SLOTS).forEach(this::rest);
  }

  @AfterEach
  void end() {
    var unused = loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    while (!loop.isTerminated()) {
      time.advance(1, TimeUnit.SECONDS);
      loop.runNow();
    }
  }

  private void rest(int slot) {
    waiting.await(
        loop,
        slots.get(slot),
        () -> {
          assertTrue(slots.get(slot).begin());
          started.add(slot);
        });
  }

  private void answer(int slot) {
    OpenUser user = slots.get(slot);
    user.ended(false, user.run.clock.nanos(), user.run.clock.nanos());
    rest(slot);
  }

  private void pass(int millis) {
    time.advance(millis, TimeUnit.MILLISECONDS);
    loop.runNow();
  }

  @Test
  void arrivalsAreTakenByTheSlotThatRestedLast() {
    pass(0);
    for (int i = 0; i < 2 * SLOTS; i++) {
      answer(started.get(i));
      pass(1);
    }
    assertEquals(List.of(0, 1), started.stream().distinct().toList());
  }

  /** A new one has neither memory nor a connection that are warm. */
  @Test
  void aNewSlotComesLast() {
    pass(0);
    answer(0);
    pass(1);
    pass(1);
    assertEquals(List.of(0, 1, 0), started, "the second was told when the first was busy");
  }

  /**
   * All at once would each open a connection, and keep the loop from the answers that are there.
   */
  @Test
  void ofOverdueArrivalsEachRoundStartsOne() {
    pass(SLOTS / 2);
    assertEquals(1, started.size());
    for (int i = 1; i <= SLOTS / 2; i++) {
      assertEquals(i, started.size());
      answer(started.get(i - 1));
      loop.runNow();
    }
    assertEquals(2, started.stream().distinct().count(), started.toString());
  }
}
