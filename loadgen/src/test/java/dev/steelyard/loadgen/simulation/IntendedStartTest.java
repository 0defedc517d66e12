// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.recording.Summary;
import dev.steelyard.loadgen.scenario.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Latency counts from the intended start to the last byte, whatever lies before and after. */
class IntendedStartTest {
  private static final long WAIT = Duration.ofMillis(8).toNanos();
  private static final String OPERATION = "{\"operation\": \"a\", \"path\": \"/\"}";
  private static final String CYCLE =
      "{\"operation\": \"a\", \"path\": \"/\", \"pause\": {\"cycle\": \"100ms\"}}";

  @TempDir Path folder;

  private final AtomicLong time = new AtomicLong();
  private long checked;

  private Run run(String load, String step) throws IOException {
    String json =
        """
        {"journey": {"visits": {"v": {"steps": [%s]}}},
         "targets": ["http://127.0.0.1:9"], %s, "measureSeconds": 60, "output": "%s"}
        """
            .formatted(step, load, folder.resolve("out"));
    Settings settings = SettingsReader.readVariable("TEST", json, Instant.EPOCH);
    return new Run(settings, Scenarios.of(settings), new RunClock(time::get));
  }

  /** One operation that begins and is checked late; gives what its latency is, in milliseconds. */
  private double lateOperation(VirtualUser user) {
    long due = user.due;
    time.addAndGet(WAIT);
    assertTrue(user.begin());
    time.addAndGet(WAIT);
    user.answered();
    long answered = user.run.clock.nanos();
    time.addAndGet(WAIT);
    checked = user.run.clock.nanos();
    user.ended(false, answered, checked);
    user.run.control.leave(user.operation());
    return (answered - due) / 1e6;
  }

  private static void assertLatency(Run run, double expected) throws IOException {
    run.control.stop(Control.Ending.TIME, run.clock.nanos());
    Summary.Latency latency = run.close().operations().get("a").latencyMillis();
    assertEquals(16, expected, "late, and answered after as long again");
    assertEquals(expected, latency.min(), expected / 500);
  }

  @Test
  void ofArrivalsThatAreHardlyLate() throws Exception {
    Run run = run("\"model\": \"open\", \"rate\": 10", OPERATION);
    OpenUser slot = run.newOpenUser();
    assertTrue(slot.reserve());
    assertLatency(run, lateOperation(slot));
  }

  @Test
  void ofUsersWhosePauseIsOver() throws Exception {
    Run run = run("\"model\": \"closed\", \"users\": 1", OPERATION);
    ClosedUser user = run.newClosedUser();
    double latency = lateOperation(user);
    assertEquals(checked, user.due, "due when it had been checked");
    assertEquals(0, run.control.inFlight());
    assertLatency(run, latency);
  }

  /** One operation of a user: it begins and is answered so much later; gives when the next is. */
  private long operation(ClosedUser user, int begunAfter, int answeredAfter) {
    time.addAndGet(Duration.ofMillis(begunAfter).toNanos());
    assertTrue(user.begin());
    time.addAndGet(Duration.ofMillis(answeredAfter).toNanos());
    user.answered();
    long answered = user.run.clock.nanos();
    time.addAndGet(Duration.ofMillis(5).toNanos());
    user.ended(false, answered, user.run.clock.nanos());
    user.run.control.leave(user.operation());
    return Duration.ofNanos(user.due).toMillis();
  }

  /** From start to start: neither what it began late nor the answer's time is added. */
  @Test
  void ofUsersInCycles() throws Exception {
    Run run = run("\"model\": \"closed\", \"users\": 1", CYCLE);
    ClosedUser user = run.newClosedUser();
    assertEquals(100, operation(user, 0, 60));
    assertEquals(200, operation(user, 45, 20));
    assertEquals(5 + 5, Duration.ofNanos(run.ownNanos.sum()).toMillis(), "the checks alone");
    assertEquals(380, operation(user, 70, 170), "it outlasted its cycle: the next is at once");
    run.flush();
    String health = Files.readString(folder.resolve("out/health.jsonl"));
    String cycles = "\"cycles\":{\"a\":{\"count\":3,\"drawnSeconds\":0.3,\"actualSeconds\":0.38}}";
    assertTrue(health.contains(cycles), health);
  }
}
