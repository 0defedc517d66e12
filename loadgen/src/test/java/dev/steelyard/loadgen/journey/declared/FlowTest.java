// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.declared.DeclaredJourneys.Share;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Loops, conditions, weights and rows: what a user does next. */
class FlowTest {
  private static final String STEP = "{'operation': '%s', 'path': '/%s?${f.name}'}";

  private final AtomicInteger givenUp = new AtomicInteger();
  private DeclaredJourneys journeys;
  private List<Operation> flat;

  private static String step(String name) {
    return "{'operation': '%s', 'path': '/', 'save': {'%s': {'header': 'X', 'optional': true}}}"
        .formatted(name, name);
  }

  private DeclaredJourney journey(String steps) throws JsonProcessingException {
    return journey("", steps, Share.ALL, 0);
  }

  private DeclaredJourney journey(String more, String steps, Share share, long user)
      throws JsonProcessingException {
    String json = ("{" + more + "'visits': {'v': {'steps': [" + steps + "]}}}").replace('\'', '"');
    JourneySpec spec = SettingsReader.JSON.readValue(json, JourneySpec.class);
    assertEquals(
        spec,
        SettingsReader.JSON.readValue(
            SettingsReader.JSON.writeValueAsString(spec), JourneySpec.class));
    journeys =
        new DeclaredJourneys(spec, Map.of(), new double[] {1}, false, share)
            .counting(outcome -> givenUp.incrementAndGet());
    flat = spec.visits().get("v").flat();
    return journeys.start(new User(1, user));
  }

  private String play(DeclaredJourney journey, int count) {
    List<String> played = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      played.add(flat.get(journey.next()).name());
      journey.ended(false);
    }
    return String.join(" ", played);
  }

  @Test
  void repeats() throws Exception {
    String steps =
        "%s, {'repeat': 2, 'steps': [%s, {'repeat': 2, 'steps': [%s]}]}, {'repeat': 0, 'steps': [%s]}"
            .formatted(step("a"), step("b"), step("c"), step("never"));
    assertEquals("a b c c b c c a b c c", play(journey(steps), 11));
  }

  private static String talk(String more) {
    return """
        {'operation': 'b', %s 'pause': {'think': 1}, 'websocket': {'path': '/', 'exchanges': [
          {'expect': 'x', 'save': {'x': {'regex': 'x'}}},
          {'operation': 'c', 'send': '${x}', 'expect': 'x', 'pause': {'think': 2}},
          {'send': 'x', 'expect': 'x'}]}}"""
        .formatted(more);
  }

  @Test
  void eachExchangeIsAnOperation() throws Exception {
    DeclaredJourney journey =
        journey("%s, {'repeat': 2, 'steps': [%s]}".formatted(step("a"), talk("")));
    assertEquals("a b c b b c b a b", play(journey, 9));
    assertEquals(1000, journey.pause().length(null) / 1_000_000);
    assertEquals("c", play(journey, 1));
    assertEquals(2000, journey.pause().length(null) / 1_000_000);
  }

  @Test
  void anExchangeThatFailsEndsItsStep() throws Exception {
    DeclaredJourney journey =
        journey("%s, %s, %s".formatted(step("a"), talk("'optional': true,"), step("d")));
    assertEquals("a b", play(journey, 2));
    assertTrue(journey.canRepeat());
    assertEquals("c", flat.get(journey.next()).name());
    assertFalse(journey.canRepeat());
    journey.ended(true);
    assertEquals("d a b", play(journey, 3));
    journey = journey("%s, %s, %s".formatted(step("a"), talk(""), step("d")));
    assertEquals("a", play(journey, 1));
    journey.next();
    journey.ended(true);
    assertEquals("a b c b d a", play(journey, 6));
  }

  @Test
  void repeatsAsOftenAsIsDrawn() throws Exception {
    DeclaredJourney journey =
        journey("%s, {'repeat': [1, 3], 'steps': [%s]}".formatted(step("a"), step("b")));
    String played = play(journey, 3000);
    assertTrue(!played.contains("a a") && !played.contains("b b b b"));
    long rounds = played.chars().filter(letter -> letter == 'b').count();
    long visits = played.chars().filter(letter -> letter == 'a').count();
    assertEquals(2.0, (double) rounds / visits, 0.15);
  }

  @Test
  void goesThroughAllValues() throws Exception {
    DeclaredJourney journey =
        journey(
            "%s, {'each': 'a', 'as': 'x', 'steps': [%s]}, %s"
                .formatted(step("a"), step("b"), step("c")));
    Template one = journeys.template("${x}", Template.Place.TEXT);
    assertEquals("a", play(journey, 1));
    journey.save(journeys.slot("a"), List.of("1", "2"));
    assertEquals("b", play(journey, 1));
    assertEquals("1", journey.text(one));
    assertEquals("b", play(journey, 1));
    assertEquals("2", journey.text(one));
    assertEquals("c a c", play(journey, 3), "without values, not at all");
  }

  @Test
  void triesUntilItHoldsOrGivesUp() throws Exception {
    String until = "{'until': {'value': '${a}', 'is': 'done'}, 'at_most': 3, 'steps': [%s]}, %s";
    DeclaredJourney journey = journey(until.formatted(step("a"), step("b")));
    assertEquals("a a a a", play(journey, 4), "given up: the visit began again");
    assertEquals(1, givenUp.get());
    journey.save(journeys.slot("a"), "done");
    assertEquals("b a", play(journey, 2));
    assertEquals(1, givenUp.get());
  }

  @Test
  void goesOnWhereGivingUpIsAllowed() throws Exception {
    String until = "{'until': {'saved': 'a'}, 'at_most': 2, 'optional': true, 'steps': [%s]}, %s";
    assertEquals("a a b a a b", play(journey(until.formatted(step("a"), step("b"))), 6));
    assertEquals(0, givenUp.get());
  }

  @Test
  void aFailedStepEndsTheVisitFromWithinALoop() throws Exception {
    DeclaredJourney journey =
        journey("%s, {'repeat': 3, 'steps': [%s]}".formatted(step("a"), step("b")));
    assertEquals("a b", play(journey, 2));
    journey.next();
    journey.ended(true);
    assertEquals("a b b b a", play(journey, 5));
  }

  @Test
  void followsConditions() throws Exception {
    String both =
        "%s, {'if': %%s, 'steps': [%s], 'else': [%s]}".formatted(step("a"), step("b"), step("c"));
    Map<String, String> conditions =
        Map.of(
            "{'value': '${a}', 'is': 7}", "b",
            "{'value': '${a}', 'is': '8'}", "c",
            "{'value': '${a}', 'is_not': '8'}", "b",
            "{'value': '${a}', 'matches': '^[7-9]$'}", "b",
            "{'saved': 'a'}", "b",
            "{'missing': 'a'}", "c",
            "{'saved': 'b'}", "c",
            "{'chance': 1}", "b",
            "{'chance': 0}", "c");
    for (Map.Entry<String, String> each : conditions.entrySet()) {
      DeclaredJourney journey = journey(both.formatted(each.getKey()));
      assertEquals("a", play(journey, 1));
      journey.save(journeys.slot("a"), "7");
      assertEquals(each.getValue(), play(journey, 1), each.getKey());
    }
  }

  @Test
  void forgetsAtEachVisitWhatIsNotKept() throws Exception {
    String login =
        "{'operation': 'login', 'path': '/', 'save': {'token': {'header': 'X', 'keep': true},"
            + " 'page': {'header': 'Y'}}}";
    String once = "{'if': {'missing': 'token'}, 'steps': [%s]}, %s".formatted(login, step("look"));
    DeclaredJourney journey = journey(once);
    assertEquals("login", play(journey, 1));
    journey.save(journeys.slot("token"), "t");
    journey.save(journeys.slot("page"), "p");
    assertEquals("look", play(journey, 1));
    assertEquals(Map.of("token", "t", "page", "p"), journey.saved());
    assertEquals("look look", play(journey, 2), "logged in once");
    assertEquals(Map.of("token", "t"), journey.saved());
    journey.save(journeys.slot("token"), null);
    assertEquals("login look", play(journey, 2), "until it is empty");
  }

  @Test
  void eachUserKeepsItsOwn() throws Exception {
    String keeping = "{'operation': 'a', 'path': '/', 'save': {'x': {'css': 'b', 'keep': true}}}";
    DeclaredJourney journey = journey(keeping);
    journey.save(journeys.slot("x"), "1");
    assertEquals(Map.of(), journeys.start(new User(1, 1)).saved());
  }

  @Test
  void choosesByWeight() throws Exception {
    String steps =
        "{'one_of': [{'weight': 3, 'steps': [%s]}, {'steps': [%s, %s]}]}"
            .formatted(step("a"), step("b"), step("c"));
    String played = play(journey(steps), 4000);
    assertEquals(0.6, played.chars().filter(letter -> letter == 'a').count() / 4000.0, 0.05);
    assertEquals(0, played.split("b [^c]", -1).length - 1);
  }

  @Test
  void aJourneyThatSendsNothingSaysSo() throws Exception {
    DeclaredJourney journey = journey("{'if': {'saved': 'a'}, 'steps': [%s]}".formatted(step("a")));
    assertTrue(
        assertThrows(IllegalStateException.class, journey::next)
            .getMessage()
            .contains("sends nothing"));
  }

  private List<String> rows(String order, Share share, long user, int count) throws Exception {
    String feeder =
        "'feeders': {'f': {'columns': ['id', 'name'], 'order': '%s', 'rows': ".formatted(order);
    feeder += "[['1', 'a'], ['2', 'b'], ['3', 'c'], ['4', 'd']]}}, ";
    DeclaredJourney journey = journey(feeder, STEP.formatted("x", "x"), share, user);
    Template row = journeys.template("${f.id}${f.name}", Template.Place.TEXT);
    List<String> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      journey.next();
      taken.add(journey.text(row));
      journey.ended(false);
    }
    return taken;
  }

  @Test
  void dealsOutRows() throws Exception {
    assertEquals(List.of("1a", "2b", "3c", "4d", "1a"), rows("circular", Share.ALL, 0, 5));
    assertEquals(List.of("2b", "4d", "2b"), rows("circular", new Share(1, 2), 0, 3));
    assertEquals(List.of("1a", "2b", "3c", "4d"), rows("rows", Share.ALL, 0, 4));
    assertEquals(List.of("2b", "4d"), rows("rows", new Share(1, 2), 0, 2));
    assertEquals(List.of("3c", "3c"), rows("user", Share.ALL, 2, 2));
    Set<String> drawn = new HashSet<>(rows("random", Share.ALL, 0, 100));
    assertEquals(4, drawn.size());
  }

  @Test
  void aFeederThatHasRunOutEndsTheRun() {
    String said =
        assertThrows(IllegalStateException.class, () -> rows("rows", Share.ALL, 0, 5)).getMessage();
    assertTrue(said.startsWith("Feeder f: all 4 rows were taken"), said);
    said =
        assertThrows(IllegalStateException.class, () -> rows("user", Share.ALL, 4, 1)).getMessage();
    assertTrue(said.startsWith("Feeder f: user 4 has no row of its own, there are 4"), said);
  }

  @Test
  void takesARowInEachRound() throws Exception {
    String feeder =
        "'feeders': {'f': {'columns': ['id'], 'order': 'rows', 'rows': [['1'], ['2'], ['3'], ['4']]}}, ";
    String steps =
        "{'repeat': 2, 'steps': [{'take': 'f'}, {'operation': 'x', 'path': '/${f.id}'}]}";
    DeclaredJourney journey = journey(feeder, steps, Share.ALL, 0);
    Template row = journeys.template("${f.id}", Template.Place.TEXT);
    List<String> taken = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      play(journey, 1);
      taken.add(journey.text(row));
    }
    assertEquals(List.of("1", "2", "3", "4"), taken, "none at the beginning of a visit");
  }

  @Test
  void visitsThatUseNoFeederTakeNoRow() throws Exception {
    String feeder = "'feeders': {'f': {'columns': ['a'], 'order': 'rows', 'rows': [['1']]}}, ";
    DeclaredJourney journey = journey(feeder, step("x"), Share.ALL, 0);
    assertEquals(String.join(" ", Collections.nCopies(5, "x")), play(journey, 5));
  }
}
