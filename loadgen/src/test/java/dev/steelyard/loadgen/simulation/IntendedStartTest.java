// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.recording.Summary;
import dev.steelyard.loadgen.scenario.Scenarios;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Latency counts from the intended start to the last byte, whatever lies before and after. */
class IntendedStartTest {
  private static final int WAIT = 8;

  @TempDir Path folder;

  private long checked;

  private Run run(String load) throws IOException {
    String json =
        """
        {"journey": {"visits": {"v": {"steps": [{"operation": "a", "path": "/"}]}}},
         "targets": ["http://127.0.0.1:9"], %s, "measureSeconds": 60, "output": "%s"}
        """
            .formatted(load, folder.resolve("out"));
    Settings settings = SettingsReader.readVariable("TEST", json, Instant.EPOCH);
    return new Run(settings, Scenarios.of(settings));
  }

  /** One operation that begins and is checked late; gives what its latency is, in milliseconds. */
  private double lateOperation(VirtualUser user) throws InterruptedException {
    long due = user.due;
    Thread.sleep(WAIT);
    assertTrue(user.begin());
    user.answered();
    long answered = user.run.clock.nanos();
    Thread.sleep(WAIT);
    checked = user.run.clock.nanos();
    user.ended(false, answered, checked);
    user.run.control.leave();
    return (answered - due) / 1e6;
  }

  private static void assertLatency(Run run, double expected) throws IOException {
    run.control.stop(Control.Ending.TIME, run.clock.nanos());
    Summary.Latency latency = run.close().operations().get("a").latencyMillis();
    assertTrue(expected >= WAIT, "it began late");
    assertEquals(expected, latency.min(), expected / 500);
  }

  @Test
  void ofArrivalsThatAreHardlyLate() throws Exception {
    Run run = run("\"model\": \"open\", \"rate\": 10");
    OpenUser slot = run.newOpenUser();
    assertTrue(slot.reserve());
    assertLatency(run, lateOperation(slot));
  }

  @Test
  void ofUsersWhosePauseIsOver() throws Exception {
    Run run = run("\"model\": \"closed\", \"users\": 1");
    ClosedUser user = run.newClosedUser();
    double latency = lateOperation(user);
    assertEquals(checked, user.due, "due when it had been checked");
    assertEquals(0, run.control.inFlight());
    assertLatency(run, latency);
  }
}
