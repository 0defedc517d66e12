// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever goes wrong inside an injector, it says so in one sentence and ends with 1. */
class FailedInjectorTest {
  @TempDir Path folder;

  private PingServer server;

  @BeforeEach
  void start() throws Exception {
    server = new PingServer(PingServer.PONG);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private ObjectNode settings() {
    // Without a pause the load would take the processors from what is waited for.
    return Injector.settings(folder, List.of(server.url())).put("thinkTimeMillis", 20);
  }

  private static void assertFailed(Injector injector, String sentence) throws Exception {
    assertEquals(1, injector.await(), injector::console);
    assertTrue(injector.console().contains(sentence), injector.console());
    assertFalse(injector.hasSummary());
  }

  @ParameterizedTest
  @CsvSource({
    "Ended, closed, ended is broken",
    "Ended, open, ended is broken",
    "Next, closed, next is broken",
    "Unrecorded, open, ArrayIndexOutOfBounds",
  })
  void journeyOrRecorderThatThrows(String program, String model, String words) throws Exception {
    Class<?> broken = Class.forName(BrokenInjector.class.getName() + "$" + program);
    ObjectNode settings = settings();
    if (model.equals("open")) {
      settings.put("model", "open").put("rate", 100).remove(List.of("users", "thinkTimeMillis"));
    }
    Injector injector = Injector.start(settings, broken);
    assertFailed(injector, "The injector failed (java.lang.");
    assertTrue(injector.console().contains(words), injector.console());
  }

  /** As the harness and the image start it; no user is lost in silence. */
  @Test
  void fullHeapEndsTheJvm() throws Exception {
    ObjectNode settings = settings().put("users", 100_000);
    Injector injector =
        Injector.startFromEnvironment(
            folder.resolve("out"),
            settings.toString(),
            List.of("-Xmx24m", "-XX:+ExitOnOutOfMemoryError"));
    assertEquals(3, injector.await(), injector::console);
    assertTrue(
        injector.console().contains("Terminating due to java.lang.OutOfMemoryError"),
        injector.console());
  }

  @Test
  void fullDisk() throws Exception {
    Injector injector = Injector.start(settings());
    injector.until("load came", () -> server.served() > 100);
    injector.limitFileSize(injector.latencies().toFile().length());
    assertFailed(injector, "could not be written");
  }

  /**
   * Once the only request is recorded, of the files only the health log goes on growing: the limit
   * is above the others.
   */
  @Test
  void healthLogThatCannotBeWritten() throws Exception {
    ObjectNode settings = settings().put("users", 1).put("thinkTimeMillis", 3_600_000);
    Injector injector = Injector.start(settings);
    File latencies = injector.latencies().toFile();
    injector.until(
        "a request was written", () -> injector.healthText().contains("\"requests\":1,"));
    injector.until("the log grew", () -> injector.healthFile().length() > latencies.length());
    long limit = injector.healthFile().length();
    injector.limitFileSize(limit);
    assertFailed(injector, "could not be written");
    assertTrue(latencies.length() < limit);
  }

  @Test
  void healthLogThatIsLost() throws Exception {
    Injector injector = Injector.start(settings());
    injector.until("load came", () -> server.served() > 100);
    Files.delete(injector.healthFile().toPath());
    assertFailed(injector, "health.jsonl was lost");
  }

  @Test
  void latenciesThatAreLostWhenASignalComes() throws Exception {
    Injector injector = Injector.start(settings());
    injector.until("load came", () -> server.served() > 100);
    Files.delete(injector.latencies());
    injector.terminate();
    assertFailed(injector, "latency.hlog was lost");
  }

  @Test
  void summaryThatCannotBeWritten() throws Exception {
    Injector injector = Injector.start(settings());
    injector.until("load came", () -> server.served() > 100);
    Files.createDirectories(injector.latencies().resolveSibling("summary.json").resolve("x"));
    injector.createStopFile();
    assertEquals(1, injector.await(), injector::console);
    assertTrue(injector.console().contains("could not be written"), injector.console());
  }
}
