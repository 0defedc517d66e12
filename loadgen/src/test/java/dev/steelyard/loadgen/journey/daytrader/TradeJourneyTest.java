// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.daytrader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TradeJourneyTest {
  private static final TradePlan PLAN = new TradePlan(100, 1000, 90, 10, false);
  private static final String STATE = "<input name=\"%s\" id=\"i:1\" value=\"%s\" />";

  private final int[] outcomes = new int[TradeJourneys.OUTCOMES.size()];
  private boolean holds = true;

  private TradeJourney journey(TradePlan plan) {
    return new TradeJourneys(plan, 0, 1, "run", outcome -> outcomes[outcome]++)
        .start(new User(7, 3));
  }

  private String page(TradeStep step) {
    String more =
        switch (step) {
          case PORTFOLIO -> holds ? "holdingID=41 holdingID=42" : "";
          case FACES_PORTFOLIO -> "of Holdings: </b>%d</td>".formatted(holds ? 2 : 0);
          default -> "";
        };
    return step.text() + more;
  }

  private TradeStep turn(TradeJourney journey) {
    TradeStep step = TradeStep.ALL.get(journey.next());
    journey.answer(page(step));
    journey.ended(false);
    return step;
  }

  /** Turns until that step is next, which then awaits its answer. */
  private void begin(TradeJourney journey, TradeStep wanted) {
    TradeStep step = TradeStep.ALL.get(journey.next());
    while (step != wanted) {
      journey.answer(page(step));
      journey.ended(false);
      step = TradeStep.ALL.get(journey.next());
    }
  }

  private static Map<String, Object> fields(TradeJourney journey) {
    return journey.fields().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  /** Per 1,000 HTTP requests, as JMeter had them with the public plan (50,000 samples). */
  @Test
  void mixIsThatOfThePublicPlan() {
    Map<TradeStep, Integer> counts = new HashMap<>();
    TradeJourney journey = journey(PLAN);
    for (int i = 0; i < 2_000_000; i++) {
      counts.merge(turn(journey), 1, Integer::sum);
    }
    double http = 2_000_000 - counts.get(TradeStep.MARKET_SUMMARY);
    Map<TradeStep, Double> measured =
        Map.ofEntries(
            Map.entry(TradeStep.QUOTES, 315.0),
            Map.entry(TradeStep.PORTFOLIO, 160.0),
            Map.entry(TradeStep.HOME, 147.0),
            Map.entry(TradeStep.ACCOUNT, 109.0),
            Map.entry(TradeStep.LOGOUT, 34.0),
            Map.entry(TradeStep.LOGIN, 27.0),
            Map.entry(TradeStep.BUY, 20.0),
            Map.entry(TradeStep.SELL, 18.0),
            Map.entry(TradeStep.UPDATE_PROFILE, 16.0),
            Map.entry(TradeStep.REGISTER, 8.0),
            Map.entry(TradeStep.MARKET_SUMMARY, 62.0),
            Map.entry(TradeStep.FACES_QUOTES, 38.0),
            Map.entry(TradeStep.FACES_PORTFOLIO, 18.1),
            Map.entry(TradeStep.FACES_LOGIN, 3.0));
    measured.forEach(
        (step, expected) ->
            // Their spread was 5 %, and 2 of the rare ones.
            assertEquals(
                expected, counts.get(step) / http * 1000, 0.06 * expected + 2, step.operation()));
  }

  @Test
  void sessionsAreOfAllUsersInTurnAndEndWithALogout() {
    TradeJourney journey = journey(new TradePlan(3, 10, 1, 0, false));
    List<Object> users = new ArrayList<>();
    TradeStep before = TradeStep.LOGOUT;
    while (users.size() < 5) {
      TradeStep step = TradeStep.ALL.get(journey.next());
      if (step == TradeStep.LOGIN) {
        assertEquals(TradeStep.LOGOUT, before);
        users.add(fields(journey).get("uid"));
      }
      journey.answer(page(step));
      journey.ended(false);
      before = step;
    }
    assertEquals(List.of("uid:0", "uid:1", "uid:2", "uid:0", "uid:1"), users);
  }

  @Test
  void injectorsShareOutTheUsers() {
    Set<Long> seen = new HashSet<>();
    for (int injector = 0; injector < 2; injector++) {
      TradeJourneys journeys = new TradeJourneys(PLAN, injector, 2, "run", outcome -> {});
      for (int i = 0; i < 50; i++) {
        assertTrue(seen.add(journeys.userOf(journeys.nextSession())));
      }
    }
    assertEquals(100, seen.size());
  }

  @Test
  void quotesHaveThePlansWrongParameterButBeforeAPurchase() {
    TradeJourney journey = journey(new TradePlan(3, 10, 1, 0, true));
    begin(journey, TradeStep.QUOTES);
    assertEquals(Set.of("action", "symbol"), fields(journey).keySet());
    journey.answer(page(TradeStep.QUOTES));
    journey.ended(false);
    begin(journey, TradeStep.QUOTES);
    Object symbol = fields(journey).get("symbols");
    journey.answer(page(TradeStep.QUOTES));
    journey.ended(false);
    begin(journey, TradeStep.BUY);
    assertEquals(symbol, fields(journey).get("symbol"));
  }

  @Test
  void whatIsSoldWasListed() {
    TradeJourney journey = journey(new TradePlan(3, 10, 1, 0, true));
    begin(journey, TradeStep.SELL);
    assertTrue(Set.of("41", "42").contains(fields(journey).get("holdingID")));
    journey.answer("has been submitted <TD>closed</TD> cancelled, if there was nothing to sell");
    journey.ended(false);
    assertEquals(0, outcomes[TradeJourneys.SALE_CANCELLED]);
    begin(journey, TradeStep.SELL);
    journey.answer("has been submitted <TD><FONT> cancelled</FONT></TD>");
    journey.ended(false);
    assertEquals(1, outcomes[TradeJourneys.SALE_CANCELLED]);
    assertEquals(0, outcomes[TradeJourneys.NOTHING_TO_SELL]);
  }

  @Test
  void nothingIsSoldWhereNothingIsHeld() {
    holds = false;
    for (int faces = 0; faces < 2; faces++) {
      TradeJourney journey = journey(new TradePlan(3, 10, 1 - faces, faces, true));
      List<TradeStep> steps = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        steps.add(turn(journey));
      }
      assertTrue(steps.contains(faces == 1 ? TradeStep.FACES_BUY : TradeStep.BUY));
      assertTrue(!steps.contains(TradeStep.SELL) && !steps.contains(TradeStep.FACES_SELL));
      assertTrue(outcomes[TradeJourneys.NOTHING_TO_SELL] > faces);
    }
  }

  @Test
  void formsPostTheStateOfTheLastPageThatHadOne() {
    for (String name : List.of("jakarta.faces.ViewState", "javax.faces.ViewState")) {
      TradeJourney journey = journey(new TradePlan(3, 10, 0, 1, true));
      begin(journey, TradeStep.FACES_WELCOME);
      assertEquals(List.of(), journey.fields());
      journey.answer("Log in" + STATE.formatted(name, "first&quot;"));
      journey.ended(false);
      begin(journey, TradeStep.FACES_LOGIN);
      assertEquals("first&quot;", fields(journey).get(name));
      assertEquals("uid:0", fields(journey).get("login:uid"));
      journey.answer("Ready to Trade");
      journey.ended(false);
      begin(journey, TradeStep.FACES_QUOTES);
      assertEquals("first&quot;", fields(journey).get(name));
      assertEquals("1", fields(journey).get("quotes_SUBMIT"));
    }
  }

  @Test
  void aLogOutOfALostSessionIsWrong() {
    TradeJourney journey = journey(new TradePlan(3, 10, 1, 0, false));
    begin(journey, TradeStep.LOGOUT);
    assertThrows(
        WrongAnswer.class, () -> journey.answer(page(TradeStep.LOGOUT) + "User Not Logged in"));
  }

  @Test
  void aFailedLogInStartsOverAndAnotherFailureEndsItsActivityOnly() {
    TradeJourney journey = journey(new TradePlan(3, 10, 1, 0, true));
    begin(journey, TradeStep.LOGIN);
    assertThrows(WrongAnswer.class, () -> journey.answer("an error page"));
    journey.ended(true);
    assertEquals(TradeStep.LOGIN, TradeStep.ALL.get(journey.next()));
    assertEquals("uid:1", fields(journey).get("uid"));
    journey.answer(page(TradeStep.LOGIN));
    journey.ended(false);
    turn(journey);
    turn(journey);
    begin(journey, TradeStep.QUOTES);
    journey.ended(true);
    assertEquals(TradeStep.PORTFOLIO, turn(journey), "no purchase, but the sale after it");
  }
}
