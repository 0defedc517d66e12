// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static dev.steelyard.loadgen.SettingsException.filled;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.steelyard.loadgen.client.AnswerGuardInstaller;
import dev.steelyard.loadgen.recording.Merge;
import dev.steelyard.loadgen.scenario.Scenario;
import dev.steelyard.loadgen.scenario.Scenarios;
import dev.steelyard.loadgen.simulation.LoadSimulation;
import dev.steelyard.loadgen.simulation.RunLife;
import io.gatling.app.Gatling;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The injector's command line: {@code Main SETTINGS.json}, {@code Main merge FOLDER...} with the
 * folders of all injectors of a run, or without an argument, with the settings as JSON text in the
 * environment variable {@value #VARIABLE}: a container then needs no file.
 *
 * <p>Exit codes: 0 the run ended by time or stop file and all files are written; 1 the run failed;
 * 2 bad settings; 143 SIGTERM (files are written); 130 SIGINT (likewise).
 */
public final class Main {
  private static final int BAD_SETTINGS = 2;
  private static final String VARIABLE = "LOADGEN_SETTINGS";

  private Main() {}

  /** Runs the load that the settings describe. */
  public static void main(String[] arguments) throws JsonProcessingException {
    MemoryPreferencesFactory.install();
    try {
      if (arguments.length > 0 && arguments[0].equals("merge")) {
        merge(Stream.of(arguments).skip(1).map(Path::of).toList());
        return;
      }
      Settings settings = settings(arguments);
      run(settings, Scenarios.of(settings));
    } catch (SettingsException e) {
      System.err.println(e.getMessage());
      System.exit(BAD_SETTINGS);
    }
  }

  /**
   * Prints the summary of a run whose injectors did not meet, and writes it to the first folder.
   */
  private static void merge(List<Path> folders) {
    try {
      filled("merge", folders);
      Settings settings = Merge.settings(folders.get(0));
      System.out.print(Merge.told(folders, Scenarios.of(settings).ratios()));
    } catch (IOException e) {
      throw new SettingsException(
          "Nothing was merged (%s): give the folders of all injectors of one run."
              .formatted(e.getMessage()));
    }
  }

  private static Settings settings(String[] arguments) {
    Instant now = Instant.now();
    if (arguments.length > 1) {
      throw new SettingsException(
          "Too many arguments: give the path of one settings file (JSON), or none and the"
              + " environment variable %s.".formatted(VARIABLE));
    }
    return arguments.length == 1
        ? SettingsReader.read(Path.of(arguments[0]), now)
        : SettingsReader.readVariable(VARIABLE, System.getenv(VARIABLE), now);
  }

  /** Runs a scenario and ends the process. */
  static void run(Settings settings, Scenario scenario) throws JsonProcessingException {
    RunLife life = prepare(settings, scenario);
    System.out.println(
        SettingsReader.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(settings));
    AnswerGuardInstaller.install();
    configuration(settings).forEach(System::setProperty);
    // A container has no name before it runs: Java would go by that answer for ten seconds.
    Security.setProperty("networkaddress.cache.negative.ttl", "0");
    life.start();
    LoadSimulation.handOver(life);
    Gatling.main(
        new String[] {
          "--simulation", LoadSimulation.class.getName(),
          "--results-folder", settings.output().resolve("gatling").toString(),
          "--no-reports"
        });
  }

  /** System properties: what Gatling and Netty take from their configuration only. */
  static Map<String, String> configuration(Settings settings) {
    String timeout = Integer.toString(settings.requestTimeoutMillis());
    boolean tls = settings.targets().stream().anyMatch(target -> target.startsWith("https:"));
    return Map.of(
        // Its search for lost buffers keeps a stack of one allocation in 128: 3 % of a tiny
        // request.
        "io.netty.leakDetection.level",
        "disabled",
        "gatling.socket.connectTimeout",
        timeout,
        "gatling.http.requestTimeout",
        timeout,
        // Loading OpenSSL costs 0.4 CPU-seconds at the start, which plain HTTP need not pay.
        "gatling.ssl.useOpenSsl",
        Boolean.toString(tls));
  }

  private static RunLife prepare(Settings settings, Scenario scenario) {
    Path output = settings.output();
    if (Files.exists(output.resolve("stop"))) {
      throw new SettingsException(
          "The folder %s holds a stop file: remove it, or give another \"output\"."
              .formatted(output));
    }
    try {
      return new RunLife(settings, scenario);
    } catch (FileAlreadyExistsException e) {
      throw new SettingsException(
          "The folder %s holds a run already: give another \"output\".".formatted(output));
    } catch (IOException e) {
      throw new SettingsException(
          "The folder %s cannot be written (%s): give another \"output\"."
              .formatted(output, e.getMessage()));
    }
  }
}
