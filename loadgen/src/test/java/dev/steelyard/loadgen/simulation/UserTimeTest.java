// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.scenario.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each interval has the part of a wait or a pause that lies within it, and no other. */
class UserTimeTest {
  @TempDir Path folder;

  private final AtomicLong time = new AtomicLong();
  private Run run;
  private ClosedUser first;
  private ClosedUser second;

  @BeforeEach
  void twoUsers() throws IOException {
    String json =
        """
        {"journey": {"visits": {"v": {"steps": [{"operation": "a", "path": "/"}]}}},
         "targets": ["http://127.0.0.1:9"], "model": "closed", "users": 2, "thinkTimeMillis": 3000,
         "measureSeconds": 60, "output": "%s"}
        """
            .formatted(folder.resolve("out"));
    Settings settings = SettingsReader.readVariable("TEST", json, Instant.EPOCH);
    run = new Run(settings, Scenarios.of(settings), new RunClock(time::get));
    run.open();
    first = run.newClosedUser();
    second = run.newClosedUser();
    run.userTime.change(2, run.clock.nanos());
  }

  private void pass(Duration duration) {
    time.addAndGet(duration.toNanos());
  }

  private static void begin(ClosedUser user) {
    assertTrue(user.begin());
  }

  /** The answer arrives now, and is checked so much later. */
  private void answer(ClosedUser user, Duration checked) {
    long answered = run.clock.nanos();
    pass(checked);
    user.ended(false, answered, run.clock.nanos());
    run.control.leave(user.operation());
  }

  private List<Double> told() throws IOException {
    List<Double> seconds = new ArrayList<>();
    for (String line : Files.readAllLines(folder.resolve("out").resolve("health.jsonl"))) {
      JsonNode node = SettingsReader.JSON.readTree(line);
      seconds.add(node.get("userSeconds").asDouble());
    }
    return seconds;
  }

  /** A server that stands still over the ends of intervals: all users wait in each of them. */
  @Test
  void waitsThatCrossTheEndsOfIntervals() throws Exception {
    begin(first);
    begin(second);
    for (int i = 0; i < 3; i++) {
      pass(Duration.ofSeconds(1));
      run.flush();
    }
    answer(first, Duration.ZERO);
    answer(second, Duration.ZERO);
    pass(Duration.ofSeconds(1)); // both pause
    run.flush();
    assertEquals(List.of(2.0, 2.0, 2.0, 2.0), told());
  }

  /** What an injector without a processor takes to check answers is neither wait nor pause. */
  @Test
  void whatTheInjectorTakesIsLeftOut() throws Exception {
    begin(first);
    begin(second);
    answer(first, Duration.ofMillis(250));
    pass(Duration.ofMillis(750));
    run.flush();
    run.userTime.change(-1, run.clock.nanos());
    pass(Duration.ofSeconds(1));
    run.flush();
    assertEquals(List.of(1.75, 1.0), told());
  }
}
