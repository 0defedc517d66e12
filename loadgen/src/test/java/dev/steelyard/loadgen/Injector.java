// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.testkit.Waiting;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** A real injector in a process of its own. */
final class Injector {
  static final ObjectMapper JSON = new ObjectMapper();

  /** As apps/ping has it. */
  static final JsonNode PING =
      json(
          """
          {"visits": {"ping": {"steps": [
            {"operation": "ping", "path": "/ping", "check": {"matches": "^pong\\n$"}}]}}}
          """);

  /** Of a JVM that ends before optimised code would pay. */
  static final List<String> OPTIONS =
      List.of(
          "-Xmx256m",
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          // No test waits as long; one that stood still would have its users connect anew.
          "-Dgatling.http.pooledConnectionIdleTimeout=600000",
          "--add-opens=java.base/java.lang=ALL-UNNAMED");

  private final Path output;
  private final Path console;
  private final Process process;
  private final Thread reader;
  private final RunClock clock = new RunClock();

  private Injector(Path output, Process process) {
    this.output = output;
    this.process = process;
    console = output.resolveSibling(output.getFileName() + ".console");
    // Not a file of the process: a limit on the size of those is none on what it says.
    reader = new Thread(this::readConsole);
    reader.start();
  }

  private void readConsole() {
    try (InputStream words = process.getInputStream()) {
      Files.copy(words, console, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Closed-model settings, to be changed by a test; {@code folder} is where the settings file goes
   * too.
   */
  static ObjectNode settings(Path folder, List<String> targets) {
    ObjectNode settings = JSON.createObjectNode();
    settings.set("journey", PING.deepCopy());
    settings.putPOJO("targets", targets);
    settings.put("model", "closed");
    settings.put("users", 6);
    // Tests end a run once they have seen enough; a machine that stalls turns no answer into an
    // error.
    settings.put("measureSeconds", 600).put("requestTimeoutMillis", 600_000);
    settings.put("output", folder.resolve("out").toString());
    return settings;
  }

  static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Injector start(ObjectNode settings) throws IOException {
    return start(settings, Main.class);
  }

  /** With another class as the program. */
  static Injector start(ObjectNode settings, Class<?> program) throws IOException {
    Path output = Path.of(settings.get("output").asText());
    Path folder = Files.createDirectories(output.getParent());
    Path file = folder.resolve(output.getFileName() + ".json");
    Files.writeString(file, JSON.writeValueAsString(settings));
    return launch(output, program, List.of(), List.of(file.toString()), null);
  }

  /** Without an argument, the settings in the environment; null leaves the variable out. */
  static Injector startFromEnvironment(Path output, String settings) throws IOException {
    return startFromEnvironment(output, settings, List.of());
  }

  static Injector startFromEnvironment(Path output, String settings, List<String> jvmOptions)
      throws IOException {
    return launch(output, Main.class, jvmOptions, List.of(), settings);
  }

  /** Another program without settings. */
  static Injector launch(Path output, Class<?> program, List<String> jvmOptions)
      throws IOException {
    return launch(output, program, jvmOptions, List.of(), null);
  }

  static Injector launch(
      Path output,
      Class<?> program,
      List<String> jvmOptions,
      List<String> arguments,
      String environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(OPTIONS);
    command.addAll(ClassArchive.OPTIONS);
    // Killed, it leaves what it has unpacked there.
    Path temporary = output.resolveSibling(output.getFileName() + ".tmp");
    command.add("-Djava.io.tmpdir=" + Files.createDirectories(temporary));
    command.addAll(jvmOptions);
    command.add(program.getName());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("LOADGEN_SETTINGS");
    if (environment != null) {
      builder.environment().put("LOADGEN_SETTINGS", environment);
    }
    return new Injector(output, builder.start());
  }

  /** A run that ends by itself. */
  static Injector run(ObjectNode settings) throws Exception {
    Injector injector = start(settings);
    assertEquals(0, injector.await(), injector::console);
    return injector;
  }

  /** A run that a stop file ends once something holds. */
  static Injector runUntil(ObjectNode settings, String what, Waiting.Condition enough)
      throws Exception {
    Injector injector = start(settings);
    injector.stopOnce(what, enough);
    return injector;
  }

  /** Ends it by a stop file once something holds. */
  void stopOnce(String what, Waiting.Condition enough) throws Exception {
    until(what, enough);
    createStopFile();
    assertEquals(0, await(), this::console);
  }

  /** Waits until something holds, which cannot come any more once the injector has ended. */
  void until(String what, Waiting.Condition condition) throws Exception {
    Waiting.await(
        what,
        condition,
        () -> process.isAlive() ? null : "the injector has ended; it wrote: " + console());
  }

  /** Waits for its end and its last words; gives the exit code. */
  int await() throws Exception {
    try {
      int exit = Waiting.awaitEnd(process);
      reader.join();
      return exit;
    } finally {
      // The process itself would close what its last words are read from.
      process.toHandle().destroyForcibly();
      reader.join();
    }
  }

  /** Sends SIGTERM. */
  void terminate() {
    process.toHandle().destroy();
  }

  /** Lets no file of this process grow beyond a size; writes then fail as on a full disk. */
  void limitFileSize(long bytes) throws Exception {
    List<String> command =
        List.of("prlimit", "--pid", Long.toString(process.pid()), "--fsize=" + bytes);
    assertEquals(0, Waiting.awaitEnd(new ProcessBuilder(command).inheritIO().start()));
  }

  void createStopFile() throws IOException {
    Files.createFile(output.resolve("stop"));
  }

  /** Ends it as a lost pod does. */
  void kill() {
    process.toHandle().destroyForcibly();
  }

  /**
   * Milliseconds since the epoch, as the injector's own clock counts: the host's may be set
   * meanwhile.
   */
  long now() {
    return clock.epochMillis(clock.nanos());
  }

  String console() {
    try {
      return Files.readString(console);
    } catch (IOException e) {
      return e.toString();
    }
  }

  Path latencies() {
    return output.resolve("latency.hlog");
  }

  File healthFile() {
    return output.resolve("health.jsonl").toFile();
  }

  /** The health log as far as it is written; empty before it is there. */
  String healthText() {
    try {
      return healthFile().exists() ? Files.readString(healthFile().toPath()) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path ready() {
    return output.resolve("ready");
  }

  /** Lets load begin that waits for it. */
  void createStartFile() throws IOException {
    createStartFile("");
  }

  /** Lets load begin at a time. */
  void createStartFile(String epochMillis) throws IOException {
    Path file = Files.writeString(output.resolve("start.new"), epochMillis);
    Files.move(file, output.resolve("start"), StandardCopyOption.ATOMIC_MOVE);
  }

  boolean hasSummary() {
    return Files.exists(output.resolve("summary.json"));
  }

  JsonNode summary() throws IOException {
    assertTrue(hasSummary(), () -> "no summary; the injector wrote: " + console());
    return JSON.readTree(output.resolve("summary.json").toFile());
  }

  long requests() throws IOException {
    return summary().at("/operations/ping/requests").asLong();
  }

  long errors() throws IOException {
    return summary().at("/operations/ping/errors").asLong();
  }

  List<JsonNode> health() throws IOException {
    List<JsonNode> lines = new ArrayList<>();
    for (String line : Files.readAllLines(output.resolve("health.jsonl"))) {
      lines.add(JSON.readTree(line));
    }
    return lines;
  }

  long healthSum(String key) throws IOException {
    return health().stream().mapToLong(line -> line.get(key).asLong()).sum();
  }

  /** All intervals of an interval log, added up per tag. */
  static Map<String, Histogram> totals(Path log) throws IOException {
    Map<String, Histogram> totals = new TreeMap<>();
    try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
      while (reader.hasNext()) {
        if (reader.nextIntervalHistogram() instanceof Histogram interval) {
          totals.computeIfAbsent(interval.getTag(), tag -> new Histogram(3)).add(interval);
        }
      }
    }
    return totals;
  }

  static long count(Map<String, Histogram> totals, String tag) {
    return totals.containsKey(tag) ? totals.get(tag).getTotalCount() : 0;
  }
}
