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

  /** One operation that begins and is checked late, and takes no time in between. */
  private static void lateOperation(VirtualUser user) throws InterruptedException {
    Thread.sleep(WAIT);
    assertTrue(user.begin());
    user.answered();
    long answered = user.run.clock().nanos();
    Thread.sleep(10 * WAIT);
    user.ended(false, answered, user.run.clock().nanos());
    user.run.control().leave();
  }

  private static void assertLatency(Run run, double least) throws IOException {
    run.control().stop(Control.Ending.TIME, run.clock().nanos());
    Summary.Latency latency = run.close().operations().get("a").latencyMillis();
    assertTrue(latency.min() >= least && latency.min() < least + 9 * WAIT, latency.toString());
  }

  @Test
  void ofArrivalsThatAreHardlyLate() throws Exception {
    Run run = run("\"model\": \"open\", \"rate\": 10");
    OpenUser slot = run.newOpenUser();
    assertTrue(slot.reserve());
    lateOperation(slot);
    assertLatency(run, WAIT);
  }

  @Test
  void ofUsersWhosePauseIsOver() throws Exception {
    Run run = run("\"model\": \"closed\", \"users\": 1");
    ClosedUser user = run.newClosedUser();
    lateOperation(user);
    long now = run.clock().nanos();
    assertTrue(user.due() <= now && user.due() > now - 50_000_000, "due when it had been checked");
    assertEquals(0, run.control().inFlight());
    assertLatency(run, WAIT);
  }
}
