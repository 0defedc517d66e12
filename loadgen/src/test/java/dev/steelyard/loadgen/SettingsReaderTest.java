// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.loadgen.scenario.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
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
    ObjectNode settings = Injector.settings(folder, List.of("http://127.0.0.1:9080/"));
    settings.remove("requestTimeoutMillis");
    return settings.put("measureSeconds", 1.5);
  }

  private static ObjectNode acmeair(ObjectNode settings, String scenario) {
    settings.remove("journey");
    return settings.put("scenario", scenario);
  }

  private static ObjectNode with(ObjectNode settings, String key, String value) throws IOException {
    settings.set(key, Injector.JSON.readTree(value));
    return settings;
  }

  private Settings resolved(ObjectNode settings) throws IOException {
    Settings read = read(settings.toString());
    Scenarios.of(read);
    return read;
  }

  private void assertRefused(ObjectNode settings, String expected) {
    SettingsException refusal =
        assertThrows(SettingsException.class, () -> resolved(settings), expected);
    assertTrue(refusal.getMessage().contains(expected), refusal.getMessage());
    assertEquals(1, refusal.getMessage().lines().count());
  }

  @Test
  void fillsInDefaults() throws Exception {
    Settings settings = read(valid().toString());
    assertEquals(List.of("http://127.0.0.1:9080"), settings.targets());
    assertEquals(Settings.Model.CLOSED, settings.model());
    assertEquals(Map.of(), settings.parameters());
    assertFalse(settings.awaitStart());
    assertEquals(10_000, settings.requestTimeoutMillis());
    assertEquals(1, settings.injectors());
    assertEquals(1.5, settings.totalSeconds());
  }

  /** Each user of a run has one injector, and all have nearly as many. */
  @ParameterizedTest
  @CsvSource({"1, 1", "7, 3", "48, 4", "1001, 16", "16, 16"})
  void usersAreDealtOut(int users, int injectors) throws Exception {
    List<Long> dealt = new ArrayList<>();
    List<Long> turns = new ArrayList<>();
    for (int i = 0; i < injectors; i++) {
      ObjectNode given = valid().put("users", users).put("injectors", injectors).put("injector", i);
      Settings settings = read(given.toString());
      assertEquals((double) users / injectors, settings.ownUsers(), 1 - 1e-9);
      for (int number = 0; number < settings.ownUsers(); number++) {
        dealt.add(settings.firstUser() + number);
        turns.add(settings.turn(number));
      }
    }
    List<Long> all = LongStream.range(0, users).boxed().toList();
    assertEquals(all, dealt);
    assertEquals(all, turns.stream().sorted().toList());
  }

  @Test
  void noInjectorIsWithoutAUser() throws Exception {
    assertRefused(
        valid().put("users", 3).put("injectors", 4), "it must be a whole number from 4 to 400000");
  }

  @Test
  void printsWhatItReads() throws Exception {
    ObjectNode open = valid().put("model", "open").put("rate", 12.5).put("seed", -7);
    open.putNull("users");
    open.set("journey", Injector.json(DeclaredJourneyTest.EVERYTHING));
    Settings settings =
        resolved(with(open.put("arrivals", "exponential"), "parameters", "{\"limit\": 3}"));
    assertEquals(settings, read(SettingsReader.JSON.writeValueAsString(settings)));
  }

  @Test
  void fillsInDefaultsOfAScenario() throws Exception {
    Settings monolith = resolved(acmeair(valid(), "acmeair-monolith"));
    assertEquals(
        Map.of("customers", 200, "today", "2026-06-15", "visitsPerLogin", 1),
        monolith.parameters());
    Settings services = resolved(acmeair(valid(), "acmeair-microservices"));
    assertEquals(5, services.parameters().get("visitsPerLogin"));
  }

  /** As the workload file allows: the day of the servers' own clock. */
  @Test
  void takesTheDayOfTheSystem() throws Exception {
    ObjectNode given = acmeair(valid(), "acmeair-monolith");
    with(given, "parameters", "{\"today\": \"system\"}");
    assertEquals("system", resolved(given).parameters().get("today"));
  }

  @Test
  void printsWhatItReadsOfAScenario() throws Exception {
    ObjectNode given = acmeair(valid(), "acmeair-microservices").put("model", "probe");
    given.remove("users");
    with(
        given,
        "parameters",
        "{\"customers\": 7, \"today\": \"2024-02-29\", \"visitsPerLogin\": null}");
    Settings settings = resolved(given);
    assertEquals(5, settings.parameters().get("visitsPerLogin"));
    assertEquals(settings, read(SettingsReader.JSON.writeValueAsString(settings)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'customers': 0} | 'parameters.customers' is 0: it must be a whole number from 1 to 10000000",
        "{'customers': 2.5} | 'parameters.customers' is 2.5: it must be a whole number",
        "{'today': '15.6.2026'} | 'parameters.today' is '15.6.2026': it must be a date such as",
        "{'today': '2026-02-29'} | it must be a date such as",
        "{'today': 20260615} | it must be a date such as",
        "{'visitsPerLogin': 0} | it must be a whole number from 1 to 1000",
        "{'visits': 1} | 'parameters.visits' is unknown: allowed are customers, today,",
        "{'customers': [1]} | 'parameters.customers' is [1]: it must be a text, a number, true",
      })
  void refusesBadParametersOfAScenario(String parameters, String expected) throws Exception {
    ObjectNode settings = acmeair(valid(), "acmeair-monolith");
    assertRefused(with(settings, "parameters", quoted(parameters)), quoted(expected));
  }

  /** Apostrophes for quotation marks, for the sake of the eyes. */
  private static String quoted(String text) {
    return text.replace('\'', '"');
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "uesrs | 3 | Setting \"uesrs\" is unknown: allowed are scenario, journey,",
        "scenario | \"acmeair-monolith\" | Give exactly one of the settings \"scenario\" and \"journey\".",
        "journey | null | Give exactly one of the settings",
        "target | [] | Setting \"target\" is unknown",
        "targets | [] | Setting \"targets\" is empty",
        "targets | [\"localhost:9080\"] | it must be a list of base URLs",
        "targets | [\"ftp://h/\"] | it must be a list of base URLs",
        "targets | [\"http://h/#{x}\"] | it must be a list of base URLs",
        "targets | \"http://h\" | Setting \"targets\" is \"http://h\": it must be a list",
        "model | \"Closed\" | it must be one of \"closed\", \"open\", \"probe\"",
        "model | 0 | it must be one of \"closed\", \"open\", \"probe\"",
        "users | 0 | Setting \"users\" is 0: it must be a whole number from 1 to 100000",
        "users | 2.5 | Setting \"users\" is 2.5: it must be a whole number",
        "users | \"4\" | it must be a whole number",
        "users | null | Setting \"users\" is missing",
        "firstUser | 0 | Setting \"firstUser\" is unknown",
        "meet | \"injector\" | it must be HOST:PORT of the first injector",
        "meet | \"injector:0\" | it must be HOST:PORT of the first injector",
        "meet | \"injector:65536\" | it must be HOST:PORT of the first injector",
        "rate | 5 | Setting \"rate\" belongs to the open model",
        "arrivals | \"even\" | Setting \"arrivals\" belongs to the open model",
        "rampSeconds | -1 | it must be a number from 0 to",
        "measureSeconds | 0 | it must be a number from 0.1 to",
        "thinkTimeMillis | true | it must be a whole number",
        "awaitStart | 1 | it must be true or false",
        "mix | {\"ping\": 90} | gives a percentage to some of ping, with the sum 100",
        "mix | {\"pong\": 100} | gives a percentage to some of ping, with the sum 100",
        "seed | 1.5 | it must be a whole number",
        "injector | 1 | it must be a whole number from 0 to 0",
        "requestTimeoutMillis | 0 | it must be a whole number from 1 to",
        "output | \"relative\" | it must be an absolute path of a folder",
      })
  void refusesWithOneSentence(String key, String value, String expected) throws Exception {
    assertRefused(with(valid(), key, value), expected);
  }

  @Test
  void refusesAScenarioThatIsNoneAndAMixOfOneThatDecides() throws Exception {
    assertRefused(
        acmeair(valid(), "pong"),
        "Setting \"scenario\" is \"pong\": it must be one of acmeair-monolith, acmeair-microservices");
    assertRefused(
        with(acmeair(valid(), "acmeair-monolith"), "mix", "{\"login\": 100}"),
        "Setting \"mix\" does not belong to the scenario acmeair-monolith: leave it out.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'path': '/a', 'chek': 1 | 'journey.visits.v.steps[0].chek' is unknown: allowed are operation,",
        "'path': 'a' | 'journey.visits.v.steps[0].path' is 'a': it must be a path that begins with",
        "'method': 'GET' | 'journey.visits.v.steps[0]' must have exactly one of path, submit, websocket, events",
        "'path': '/${x}' | 'journey' uses ${x} in '/${x}', which nothing gives a value",
        "'path': '/a', 'check': {'status': 'ok'} | steps[0].check.status[0]' is 'ok': it must be a whole number",
        "'path': '/a', 'check': {'status': 20} | check.status' is 20: it must be a whole number from 100 to 999",
        "'path': '/a', 'check': {'json': {'$.a': 9223372036854775808}} | check.json' is 9223372036854775808",
        "'path': '/a', 'check': {'matches': '('} | check.matches' is '(': it must be a regular expression",
        "'path': '/a', 'save': {'x': {}} | save.x' must have exactly one of json, regex, header, css, cookie",
        "'path': '/a', 'pause': {'think': 'long'} | pause.think' is 'long': it must be a duration such as",
        "'path': '/a', 'pause': {'think': 1, 'minimum': 2} | pause' must have its mean between minimum and maximum",
        "'path': '/a', 'body': 'x', 'form': {'a': 1} | form' excludes body and multipart",
        "'path': '/a', 'multipart': {'f': {'name': 'x'}} | steps[0].multipart.name' is unknown: allowed are content,",
        "'path': '/a', 'multipart': {'f': {'base64': '*'}} | multipart.base64' is '*': it must be base64 in one line",
        "'websocket': {'path': '/a', 'expect': 'x'}, 'body': 'x' | websocket' stands alone",
        "'websocket': {'path': '/a'} | websocket' must have exactly one of expect, exchanges",
        "'websocket': {'path': '/a', 'exchanges': []} | websocket.exchanges' is empty",
        "'websocket': {'path': '/a', 'exchanges': [{'send': 'a'}]} | exchanges[0].expect' is missing",
        "'websocket': {'path': '/a', 'send': 'a', 'exchanges': [{'expect': 'a'}]} | exchanges' excludes send, within",
        "'websocket': {'path': '/a', 'exchanges': [{'expect': 'a'}, {'expect': 'b'}]} | exchanges' hold one without send",
        "'websocket': {'path': '/a', 'expect': 'x', 'within': '0s'} | websocket.within' is '0ms': it must be a duration",
        "'events': {'path': '/a', 'expect': 'x', 'within': 601} | events.within' is '601000ms': it must be a duration",
        "'events': {'path': '/a', 'expect': 'x'}, 'body': 'x' | events' stands alone",
        "'events': {'path': '/a', 'expect': 'x', 'save': {'y': {'css': 'a'}}} | save.y' must be by json or regex",
        "'path': '/a', 'save': {'x': {'css': 'a', 'which': 0}} | which' is 0: it must be one of [first, last,",
        "'path': '/a', 'save': {'x': {'css': 'a', 'which': 4294967297}} | which' is 4294967297",
        "'path': '/a', 'save': {'x': {'json': '$', 'attribute': 'b'}} | attribute' belongs to css",
        "'path': '/a', 'save': {'x': {'cookie': 'a', 'which': 'last'}} | which' has no meaning for a cookie",
        "'submit': {'form': 'f'} | 'journey' submits a form in a, and the step before it asks for no page",
        "'submit': {'form': 'f'}, 'body': 'x' | submit' excludes form and body",
      })
  void refusesBadJourneys(String step, String expected) throws Exception {
    String journey = "{'visits': {'v': {'steps': [{'operation': 'a', %s}]}}}".formatted(step);
    assertRefused(with(valid(), "journey", quoted(journey)), quoted(expected));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'repeat': 2 | 'journey.visits.v.steps[0].steps' is missing",
        "'repeat': [3, 2], 'steps': [STEP] | repeat' is [3, 2]: it must be a number of rounds",
        "'repeat': 2, 'until': {'saved': 'x'}, 'steps': [STEP] | must have exactly one of repeat, each,",
        "'repeat': 2, 'steps': [{'operation': 'b', 'pth': 1}] | steps[0].steps[0].pth' is unknown",
        "'until': {'chance': 1}, 'steps': [STEP] | at_most' is missing",
        "'until': {'saved': 'x'}, 'at_most': 2, 'steps': [STEP] | uses the variable x, which nothing",
        "'each': 'x', 'steps': [STEP] | each' and as belong together",
        "'if': {'value': 'x'}, 'steps': [STEP] | if' must have exactly one of is, is_not, matches",
        "'if': {'chance': 2}, 'steps': [STEP] | chance' is 2.0: it must be a number from 0 to 1",
        "'one_of': [] | one_of' is empty",
        "'if': {'chance': 1}, 'steps': [{'take': 'f'}, STEP] | 'journey' takes a row of f, which is no feeder",
      })
  void refusesBadBlocks(String block, String expected) throws Exception {
    String step = "{'operation': 'a', 'path': '/'}";
    String journey = "{'visits': {'v': {'steps': [{%s}]}}}".formatted(block.replace("STEP", step));
    assertRefused(with(valid(), "journey", quoted(journey)), quoted(expected));
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
    Injector injector = Injector.startFromEnvironment(folder.resolve("out"), null);
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
