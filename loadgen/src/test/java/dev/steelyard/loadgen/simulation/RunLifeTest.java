// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.scenario.Scenarios;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run that fails in the moment in which a signal comes ends as failed, whichever of the two is
 * first: the exit code would be the signal's, as if all were written.
 */
class RunLifeTest {
  @TempDir Path folder;

  private RunLife life;

  @BeforeEach
  void prepare() throws IOException {
    prepare("out", "");
  }

  private void prepare(String name, String more) throws IOException {
    String json =
        """
        {"journey": {"visits": {"v": {"steps": [{"operation": "a", "path": "/"}%s]}}},
         "targets": ["http://127.0.0.1:9"], "model": "closed", "users": 1, "measureSeconds": 60,
         "output": "%s"}
        """
            .formatted(more, folder.resolve(name));
    Settings settings = SettingsReader.readVariable("TEST", json, Instant.EPOCH);
    life = new RunLife(settings, Scenarios.of(settings));
  }

  private void fail() {
    life.run().fail(new IOException("No space left on device"));
  }

  private void end(Control.Ending ending) {
    life.run().control.stop(ending, life.run().clock.nanos());
  }

  private void assertFails(Runnable first, Runnable second) {
    first.run();
    second.run();
    assertTrue(life.failsBeforeItsEnd());
    assertTrue(life.failure().contains("No space left on device"), life.failure());
  }

  /** Else operations would be given up that may still come out right. */
  @Test
  void operationsInFlightHaveTheTimeThatTheyMayTake() throws IOException {
    end(Control.Ending.STOP_FILE);
    assertEquals(15, drainSeconds());
    prepare(
        "socket",
        """
        , {"operation": "b", "websocket": {"path": "/", "exchanges": [
            {"expect": "x", "within": "1m"}, {"send": "y", "expect": "z"}]}}
        """);
    end(Control.Ending.STOP_FILE);
    assertEquals(75, drainSeconds());
    prepare(
        "events",
        """
        , {"repeat": 2, "steps": [
            {"operation": "b", "events": {"path": "/", "expect": "x", "within": "2m"}}]}
        """);
    end(Control.Ending.STOP_FILE);
    assertEquals(135, drainSeconds());
    prepare("signal", "");
    end(Control.Ending.SIGNAL);
    assertEquals(5, drainSeconds());
  }

  private long drainSeconds() {
    return life.drainLimitNanos() / 1_000_000_000;
  }

  @Test
  void signalAfterTheFailure() {
    assertFails(this::fail, () -> end(Control.Ending.SIGNAL));
    assertEquals(Control.Ending.FAILURE, life.run().control.ending());
  }

  @Test
  void signalBeforeTheFailure() {
    assertFails(() -> end(Control.Ending.SIGNAL), this::fail);
    assertEquals(Control.Ending.SIGNAL, life.run().control.ending());
  }

  @Test
  void runThatEndsByItselfSaysSoByItself() {
    for (Control.Ending ending : List.of(Control.Ending.TIME, Control.Ending.STOP_FILE)) {
      end(ending);
      assertFalse(life.failsBeforeItsEnd(), ending.text());
    }
  }
}
