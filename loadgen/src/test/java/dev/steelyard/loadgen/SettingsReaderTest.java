// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsReaderTest {
  private static final Instant START = Instant.parse("2026-11-21T09:00:07.5Z");

  @TempDir Path folder;

  private Settings read(String json) throws IOException, SettingsException {
    Path file = folder.resolve("settings.json");
    Files.writeString(file, json);
    return SettingsReader.read(file, START);
  }

  private static String refusalOfVariable(String text) {
    SettingsException refusal =
        assertThrows(
            SettingsException.class,
            () -> SettingsReader.readVariable("THE_VARIABLE", text, START));
    assertEquals(1, refusal.getMessage().lines().count());
    return refusal.getMessage();
  }

  private ObjectNode valid() {
    return Injector.settings(folder, List.of("http://127.0.0.1:9080/"));
  }

  @Test
  void fillsInDefaults() throws Exception {
    Settings settings = read(valid().toString());
    assertEquals(List.of("http://127.0.0.1:9080"), settings.targets());
    assertEquals(Settings.Model.CLOSED, settings.model());
    assertEquals(Map.of("ping", 100.0), settings.mix());
    assertEquals(10_000, settings.requestTimeoutMillis());
    assertEquals(1, settings.injectors());
    assertEquals(1.5, settings.totalSeconds());
  }

  @Test
  void printsWhatItReads() throws Exception {
    ObjectNode open = valid().put("model", "open").put("rate", 12.5).put("seed", -7);
    open.putNull("users");
    Settings settings = read(open.put("arrivals", "exponential").toString());
    assertEquals(settings, read(Injector.JSON.writeValueAsString(settings)));
  }

  @Test
  void fillsInDefaultsOfAJourney() throws Exception {
    Settings monolith = read(valid().put("workload", "acmeair-monolith").toString());
    assertEquals(200, monolith.customers());
    assertEquals(LocalDate.of(2026, 6, 15), monolith.today());
    assertEquals(1, monolith.visitsPerLogin());
    assertEquals(50.8, monolith.mix().get("query-flight"), 0.05);
    Settings services = read(valid().put("workload", "acmeair-microservices").toString());
    assertEquals(5, services.visitsPerLogin());
    assertEquals(62.1, services.mix().get("query-flight"), 0.05);
    assertFalse(services.mix().containsKey("logout"));
  }

  @Test
  void printsWhatItReadsOfAJourney() throws Exception {
    ObjectNode given = valid().put("workload", "acmeair-microservices").put("visitsPerLogin", 3);
    given.put("model", "open").put("rate", 12.5).remove("users");
    Settings settings = read(given.put("customers", 7).put("today", "2024-02-29").toString());
    assertEquals(settings, read(Injector.JSON.writeValueAsString(settings)));
  }

  @Test
  void refusesAMixWhereJourneysDecide() {
    ObjectNode settings = valid().put("workload", "acmeair-monolith");
    settings.putObject("mix").put("login", 100);
    SettingsException refusal =
        assertThrows(SettingsException.class, () -> read(settings.toString()));
    assertEquals(
        "Setting \"mix\" does not belong to the workload acmeair-monolith, whose users decide each"
            + " operation by what was answered before: leave it out.",
        refusal.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "customers, 0, it must be a whole number from 1 to 10000000",
    "today, \"15.6.2026\", it must be a date such as \"2026-06-15\"",
    "today, \"2026-02-29\", it must be a date such as",
    "today, 20260615, it must be a date such as",
    "visitsPerLogin, 0, it must be a whole number from 1 to 1000",
  })
  void refusesBadSettingsOfAJourney(String key, String value, String expected) throws Exception {
    ObjectNode settings = valid().put("workload", "acmeair-monolith");
    settings.set(key, Injector.JSON.readTree(value));
    SettingsException refusal =
        assertThrows(SettingsException.class, () -> read(settings.toString()));
    assertTrue(refusal.getMessage().contains(expected), refusal.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "uesrs | 3 | Unknown setting \"uesrs\": allowed are workload, targets,",
        "workload | \"pong\" | Setting \"workload\" is \"pong\": it must be one of ping",
        "targets | [] | it must be a list of base URLs",
        "targets | [\"localhost:9080\"] | it must be a list of base URLs",
        "targets | [\"ftp://h/\"] | it must be a list of base URLs",
        "targets | [\"http://h/#{x}\"] | it must be a list of base URLs",
        "model | \"Closed\" | it must be one of \"closed\", \"open\"",
        "users | 0 | Setting \"users\" is 0: it must be a whole number from 1 to 100000",
        "users | 2.5 | it must be a whole number from 1",
        "users | \"4\" | it must be a whole number from 1",
        "users | null | Setting \"users\" is missing",
        "rate | 5 | Setting \"rate\" belongs to the open model",
        "arrivals | \"even\" | Setting \"arrivals\" belongs to the open model",
        "rampSeconds | -1 | it must be a number from 0 to",
        "measureSeconds | 0 | it must be a number from 0.1 to",
        "thinkTimeMillis | true | it must be a whole number from 0 to",
        "mix | {\"ping\": 90} | gives a percentage to some of ping, with the sum 100",
        "mix | {\"pong\": 100} | gives a percentage to some of ping, with the sum 100",
        "customers | 5 | Setting \"customers\" does not belong to the workload ping: leave it out.",
        "today | \"2026-06-15\" | does not belong to the workload ping: leave it out.",
        "visitsPerLogin | 5 | does not belong to the workload ping: leave it out.",
        "seed | 1.5 | it must be a whole number of 64 bits",
        "injector | 1 | it must be a whole number from 0 to 0",
        "requestTimeoutMillis | 0 | it must be a whole number from 1 to",
        "output | \"relative\" | it must be an absolute path of a folder",
      })
  void refusesWithOneSentence(String key, String value, String expected) throws Exception {
    ObjectNode settings = valid();
    settings.set(key, Injector.JSON.readTree(value));
    SettingsException refusal =
        assertThrows(SettingsException.class, () -> read(settings.toString()));
    assertTrue(refusal.getMessage().contains(expected), refusal.getMessage());
    assertEquals(1, refusal.getMessage().lines().count());
  }

  @Test
  void refusesWhatIsNotOneJsonObject() {
    for (String json : List.of("", "[]", "{", "{} {}", "{\"users\": 1, \"users\": 2}")) {
      assertThrows(SettingsException.class, () -> read(json), json);
    }
    assertThrows(
        SettingsException.class, () -> SettingsReader.read(folder.resolve("absent.json"), START));
  }

  @Test
  void readsTheSameFromTheEnvironment() throws Exception {
    String json = valid().put("thinkTimeMillis", 7).toString();
    assertEquals(read(json), SettingsReader.readVariable("THE_VARIABLE", json, START));
  }

  @Test
  void refusalsOfTheEnvironmentNameTheVariable() {
    for (String text : List.of("{", "[]", "  ", "{} {}")) {
      String refusal = refusalOfVariable(text);
      assertTrue(refusal.contains("environment variable THE_VARIABLE"), refusal);
    }
    assertTrue(refusalOfVariable(null).contains("environment variable THE_VARIABLE"));
    String refusal = refusalOfVariable(valid().put("users", 0).toString());
    assertTrue(refusal.startsWith("Setting \"users\" is 0"), refusal);
  }

  @Test
  void outputMayHoldTheStartTime() throws Exception {
    Settings settings = read(valid().put("output", "/load/{time}/ping").toString());
    assertEquals(Path.of("/load/20261121T090007Z/ping"), settings.output());
    assertEquals(Path.of("/load"), read(valid().put("output", "/load").toString()).output());
  }

  @Test
  void processExitsWithTwo() throws Exception {
    Injector injector = Injector.start(valid().put("users", -1));
    assertEquals(2, injector.await());
    assertEquals(
        "Setting \"users\" is -1: it must be a whole number from 1 to 100000.",
        injector.console().strip());
  }

  @Test
  void processWithoutSettingsSaysWhatToDo() throws Exception {
    Injector injector = Injector.startFromEnvironment(folder, null);
    assertEquals(2, injector.await());
    assertEquals(
        "No settings: give the path of one settings file (JSON), or put its text into the"
            + " environment variable LOADGEN_SETTINGS.",
        injector.console().strip());
  }

  @Test
  void processRefusesFolderOfAnotherRun() throws Exception {
    Path output = Files.createDirectories(folder.resolve("out"));
    Files.createFile(output.resolve("latency.hlog"));
    Injector injector = Injector.start(valid());
    assertEquals(2, injector.await());
    assertTrue(injector.console().contains("holds a run already"), injector.console());
  }
}
