// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.steelyard.loadgen.scenario.Workloads;
import dev.steelyard.loadgen.simulation.LoadSimulation;
import dev.steelyard.loadgen.simulation.RunLife;
import io.gatling.app.Gatling;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * The injector's command line: {@code Main SETTINGS.json}, or without an argument, with the
 * settings as JSON text in the environment variable {@value #VARIABLE}: a container then needs no
 * file.
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
      Settings settings = settings(arguments);
      RunLife life = prepare(settings);
      System.out.println(
          new ObjectMapper()
              .enable(SerializationFeature.INDENT_OUTPUT)
              .writeValueAsString(settings));
      configureGatling(settings);
      life.start();
      LoadSimulation.handOver(life);
      Gatling.main(
          new String[] {
            "--simulation", LoadSimulation.class.getName(),
            "--results-folder", settings.output().resolve("gatling").toString(),
            "--no-reports"
          });
    } catch (SettingsException e) {
      refuse(e.getMessage());
    }
  }

  private static Settings settings(String[] arguments) throws SettingsException {
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

  /** What Gatling takes from its configuration only. */
  private static void configureGatling(Settings settings) {
    System.setProperty(
        "gatling.http.connectTimeout", Integer.toString(settings.requestTimeoutMillis()));
    // Loading OpenSSL costs 0.4 CPU-seconds at the start, which plain HTTP need not pay.
    boolean tls = settings.targets().stream().anyMatch(target -> target.startsWith("https:"));
    System.setProperty("gatling.ssl.useOpenSsl", Boolean.toString(tls));
  }

  private static RunLife prepare(Settings settings) throws SettingsException {
    Path output = settings.output();
    if (Files.exists(output.resolve("stop"))) {
      throw new SettingsException(
          "The folder %s holds a stop file: remove it, or give another \"output\"."
              .formatted(output));
    }
    try {
      return new RunLife(settings, Workloads.find(settings.workload()).orElseThrow());
    } catch (FileAlreadyExistsException e) {
      throw new SettingsException(
          "The folder %s holds a run already: give another \"output\".".formatted(output));
    } catch (IOException e) {
      throw new SettingsException(
          "The folder %s cannot be written (%s): give another \"output\"."
              .formatted(output, e.getMessage()));
    }
  }

  private static void refuse(String sentence) {
    System.err.println(sentence);
    System.exit(BAD_SETTINGS);
  }
}
