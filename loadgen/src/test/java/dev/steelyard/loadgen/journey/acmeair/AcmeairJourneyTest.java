// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.BOOK_FLIGHT;
import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.CANCEL_BOOKING;
import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.LIST_BOOKINGS;
import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.LOGIN;
import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.LOGOUT;
import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.QUERY_FLIGHT;
import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.UPDATE_CUSTOMER;
import static dev.steelyard.loadgen.journey.acmeair.AcmeairStep.VIEW_PROFILE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AcmeairJourneyTest {
  /**
   * Share of the searches that find an outbound flight: 170 of the 210 pairs of airports have a
   * segment, and of the 6 days asked for, 5 have a flight on the day for which the data was loaded.
   */
  private static final double SHARE_FOUND = 170.0 / 210 * 5 / 6;

  private static final LocalDate TODAY = LocalDate.of(2026, 6, 15);
  private static final Plan MONOLITH = new Plan(200, TODAY, 1, true);
  private static final Plan MICROSERVICES = new Plan(200, TODAY, 5, false);
  private static final String FOUND =
      Airline.query("{\"_id\":\"f1\",\"flightSegmentId\":\"AA1\"}", "");
  private static final String NOT_FOUND = Airline.query("", "");

  private final Airline airline = new Airline(MONOLITH, 1);
  private final AcmeairJourney user = airline.users[0];

  private void answer(String body) {
    user.answer(body);
    user.ended(false);
  }

  /** The rest of the searches of a visit, the first of which has begun. */
  private void searches(String... answers) {
    for (int i = 0; i < answers.length; i++) {
      if (i > 0) {
        assertEquals(QUERY_FLIGHT, airline.begin(user));
      }
      answer(answers[i]);
    }
  }

  @Test
  void visitsOfTheMonolithAreInOrder() {
    airline.beginNext(QUERY_FLIGHT);
    searches(NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND, FOUND);
    airline.turns(3);
    airline.beginNext(QUERY_FLIGHT);
    searches(FOUND, FOUND, FOUND, FOUND, NOT_FOUND);
    airline.turns(2);
    assertEquals(
        List.of(
            LOGIN,
            VIEW_PROFILE,
            UPDATE_CUSTOMER,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            BOOK_FLIGHT,
            LIST_BOOKINGS,
            LOGOUT,
            LOGIN,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            QUERY_FLIGHT,
            LIST_BOOKINGS,
            LOGOUT),
        airline.steps);
  }

  /**
   * Another user of the customer had read it before, and wrote between the update and its reply.
   */
  @Test
  void anOlderProfileAfterAnUpdateIsCounted() {
    airline.beginNext(UPDATE_CUSTOMER);
    answer(Airline.CUSTOMER_JSON.formatted(user.customer(), 123, 27617));
    assertEquals(1, airline.outcomes[AcmeairJourneys.UPDATE_OVERTAKEN]);
    airline.beginNext(UPDATE_CUSTOMER);
    answer(user.update());
    assertEquals(1, airline.outcomes[AcmeairJourneys.UPDATE_OVERTAKEN]);
  }

  @Test
  void oneLoginServesAllVisitsOfTheMicroservices() {
    Airline services = new Airline(MICROSERVICES, 1);
    Set<String> customers = new HashSet<>();
    while (services.count(LOGIN) < 2) {
      services.begin(services.users[0]);
      if (services.count(LOGIN) < 2) {
        customers.add(services.users[0].customer());
        AcmeairStep step = services.steps.get(services.steps.size() - 1);
        services.users[0].answer(services.answer(step, services.users[0]));
        services.users[0].ended(false);
      }
    }
    assertEquals(5, services.count(LIST_BOOKINGS));
    assertEquals(25, services.count(QUERY_FLIGHT));
    assertEquals(1, customers.size());
    assertEquals(0, services.count(LOGOUT));
  }

  /** Of n visits, whoever makes them, exactly the first, fifth, ninth ... look at the profile. */
  @Test
  void everyFourthVisitIsCountedOverAllUsersTogether() {
    Airline many = new Airline(MICROSERVICES, 7);
    SplittableRandom order = new SplittableRandom(3);
    for (int i = 0; i < 20_000; i++) {
      many.turn(many.users[order.nextInt(7)]);
      int decided = many.count(VIEW_PROFILE);
      // Visits are decided when the former request ends: up to one per user has not begun yet.
      int visits = (many.count(QUERY_FLIGHT) + 4) / 5;
      assertTrue(Math.abs(decided - visits / 4.0) <= 3, decided + " of " + visits);
    }
    assertEquals(many.count(LIST_BOOKINGS) / 4.0, many.count(VIEW_PROFILE), 2);
    assertEquals(many.count(VIEW_PROFILE), many.count(UPDATE_CUSTOMER), 2.0);
  }

  @Test
  void firstAndEveryFourthTurnAfterIt() {
    AcmeairJourneys journeys = airline.journeys;
    List<Boolean> turns = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      turns.add(journeys.cancelTurn());
    }
    assertEquals(List.of(true, false, false, false, true, false, false, false, true), turns);
  }

  @Test
  void airportsGoRoundOverAllUsersTogether() {
    Set<String> pairs = new HashSet<>();
    List<String> inOrder = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 210; i++) {
      AcmeairJourneys.Search search = airline.journeys.nextSearch(random);
      inOrder.add(search.from() + search.to());
      pairs.add(search.from() + search.to());
    }
    assertEquals(210, pairs.size());
    assertEquals(List.of("NRTDEL", "BOMFRA", "DELHKG"), inOrder.subList(0, 3));
    assertEquals(List.of("SYDNRT", "IKADEL", "NRTFRA"), inOrder.subList(13, 16));
  }

  @Test
  void datesAreRelativeToTodayAndCrossTheYear() {
    Plan plan = new Plan(200, LocalDate.of(2026, 12, 29), 1, true);
    AcmeairJourneys journeys = new AcmeairJourneys(plan, 0, outcome -> {});
    SplittableRandom random = new SplittableRandom(1);
    Set<String> there = new HashSet<>();
    Set<String> back = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      AcmeairJourneys.Search search = journeys.nextSearch(random);
      there.add(search.fromDate());
      back.add(search.returnDate());
    }
    assertEquals(
        Set.of(
            "Tue Dec 29 00:00:00 UTC 2026",
            "Wed Dec 30 00:00:00 UTC 2026",
            "Thu Dec 31 00:00:00 UTC 2026",
            "Fri Jan 01 00:00:00 UTC 2027",
            "Sat Jan 02 00:00:00 UTC 2027",
            "Sun Jan 03 00:00:00 UTC 2027"),
        there);
    assertEquals(7, back.size());
    assertTrue(back.contains("Mon Jan 04 00:00:00 UTC 2027"), back.toString());
    assertTrue(back.contains("Sun Jan 10 00:00:00 UTC 2027"), back.toString());
  }

  @Test
  void customersAreDrawnFromAllOfThem() {
    AcmeairJourneys journeys = new AcmeairJourneys(new Plan(3, TODAY, 1, true), 0, outcome -> {});
    SplittableRandom random = new SplittableRandom(1);
    Set<String> drawn = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      drawn.add(journeys.drawCustomer(random));
    }
    assertEquals(Set.of("uid0@email.com", "uid1@email.com", "uid2@email.com"), drawn);
  }

  @Test
  void cancelsTheFirstOfTheListAndKeepsTwo() {
    airline.beginNext(LIST_BOOKINGS);
    answer(Airline.list(user.customer(), List.of("c", "a", "d", "b")));
    assertEquals(CANCEL_BOOKING, airline.begin(user));
    assertEquals("c", user.cancellation());
    answer("booking c deleted.");
    assertEquals(CANCEL_BOOKING, airline.begin(user));
    assertEquals("a", user.cancellation());
    answer("booking a deleted.");
    assertEquals(LOGOUT, airline.begin(user));
  }

  @Test
  void twoBookingsAreNotCancelledButTakeTheTurn() {
    airline.beginNext(LIST_BOOKINGS);
    answer(Airline.list(user.customer(), List.of("a", "b")));
    assertEquals(LOGOUT, airline.begin(user));
    answer("logged out");
    airline.beginNext(LIST_BOOKINGS);
    answer(Airline.list(user.customer(), List.of("a", "b", "c")));
    assertEquals(LOGOUT, airline.begin(user), "not this visit's turn");
  }

  @Test
  void failedLoginStartsOverWithAnotherCustomer() {
    Set<String> customers = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      assertEquals(LOGIN, airline.begin(user));
      customers.add(user.customer());
      user.ended(true);
    }
    assertTrue(customers.size() > 1, customers.toString());
    airline.turn(user);
    assertEquals(VIEW_PROFILE, airline.begin(user), "no turn was lost");
  }

  @Test
  void unreadProfileIsNotUpdated() {
    airline.beginNext(VIEW_PROFILE);
    user.ended(true);
    assertEquals(QUERY_FLIGHT, airline.begin(user));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void failedSearchLeavesWhatWasKnown(boolean known) {
    airline.beginNext(QUERY_FLIGHT);
    searches(NOT_FOUND, NOT_FOUND, NOT_FOUND, known ? FOUND : NOT_FOUND);
    airline.begin(user);
    user.answer(known ? NOT_FOUND : FOUND);
    user.ended(true);
    assertEquals(known ? BOOK_FLIGHT : LIST_BOOKINGS, airline.begin(user));
    assertEquals(known ? 1 : 0, airline.outcomes[AcmeairJourneys.OUTBOUND_FOUND]);
  }

  @Test
  void visitsForgetTheFlightsOfTheOneBefore() {
    airline.beginNext(QUERY_FLIGHT);
    searches(FOUND, FOUND, FOUND, FOUND, FOUND);
    airline.beginNext(LOGOUT);
    answer("logged out");
    airline.beginNext(QUERY_FLIGHT);
    user.ended(true);
    for (int i = 1; i < 5; i++) {
      assertEquals(QUERY_FLIGHT, airline.begin(user));
      user.ended(true);
    }
    assertEquals(LIST_BOOKINGS, airline.begin(user));
  }

  @Test
  void otherErrorsEndTheirStepOnly() {
    airline.beginNext(UPDATE_CUSTOMER);
    user.ended(true);
    airline.beginNext(QUERY_FLIGHT);
    searches(FOUND, FOUND, FOUND, FOUND, FOUND);
    assertEquals(BOOK_FLIGHT, airline.begin(user));
    user.ended(true);
    assertEquals(LIST_BOOKINGS, airline.begin(user));
    answer(Airline.list(user.customer(), List.of("a", "b", "c", "d")));
    assertEquals(CANCEL_BOOKING, airline.begin(user));
    user.ended(true);
    assertEquals(CANCEL_BOOKING, airline.begin(user));
    assertEquals("b", user.cancellation());
    user.ended(true);
    assertEquals(LOGOUT, airline.begin(user));
    user.ended(true);
    assertEquals(LOGIN, airline.begin(user));
  }

  @Test
  void failedListGivesNothingToCancel() {
    airline.beginNext(LIST_BOOKINGS);
    user.answer(Airline.list(user.customer(), List.of("a", "b", "c", "d")));
    user.ended(true);
    assertEquals(LOGOUT, airline.begin(user));
  }

  @Test
  void sameSeedsMakeTheSameChoices() {
    Airline again = new Airline(MONOLITH, 1);
    for (int i = 0; i < 200; i++) {
      assertEquals(airline.turn(user), again.turn(again.users[0]));
      assertEquals(user.customer(), again.users[0].customer());
      assertEquals(user.search(), again.users[0].search());
    }
  }

  /** After a long time, with many users, the journeys have the mix that is printed. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void mixIsThatOfTheStationaryState(boolean monolith) {
    Plan plan = monolith ? MONOLITH : MICROSERVICES;
    Airline many = new Airline(plan, 32);
    SplittableRandom order = new SplittableRandom(9);
    for (int i = 0; i < 100_000; i++) {
      many.turn(many.users[order.nextInt(32)]);
    }
    many.counts.clear();
    many.outcomes[AcmeairJourneys.OUTBOUND_FOUND] = 0;
    int requests = 400_000;
    for (int i = 0; i < requests; i++) {
      many.turn(many.users[order.nextInt(32)]);
    }
    Map<String, Double> mix = stationaryMix(plan.visitsPerLogin(), plan.logsOut());
    assertEquals(100, mix.values().stream().mapToDouble(Double::doubleValue).sum(), 1e-9);
    for (AcmeairStep step : AcmeairStep.all(plan.logsOut())) {
      double share = 100.0 * many.count(step) / requests;
      assertEquals(mix.get(step.operation()), share, 0.2, step.operation());
    }
    double found = many.outcomes[AcmeairJourneys.OUTBOUND_FOUND];
    assertEquals(0.6746, found / many.count(QUERY_FLIGHT), 0.003);
    assertEquals(0, many.outcomes[AcmeairJourneys.RETURN_FOUND]);
    double bookings = 0;
    for (int i = 0; i < plan.customers(); i++) {
      bookings += many.bookings("uid" + i + "@email.com").size();
    }
    assertEquals(4.02, bookings / plan.customers(), 0.4);
  }

  /**
   * Operation to percent, sum 100, after a long time: then as many bookings are cancelled as made.
   *
   * @param visitsPerLogin visits that follow a login
   * @param logsOut whether there is a logout
   */
  private static Map<String, Double> stationaryMix(int visitsPerLogin, boolean logsOut) {
    Map<AcmeairStep, Double> perLogin = new EnumMap<>(AcmeairStep.class);
    double visits = visitsPerLogin;
    perLogin.put(AcmeairStep.LOGIN, 1.0);
    perLogin.put(AcmeairStep.VIEW_PROFILE, visits / Plan.ONE_VISIT_IN);
    perLogin.put(AcmeairStep.UPDATE_CUSTOMER, visits / Plan.ONE_VISIT_IN);
    perLogin.put(AcmeairStep.QUERY_FLIGHT, visits * Plan.QUERIES);
    perLogin.put(AcmeairStep.BOOK_FLIGHT, visits * SHARE_FOUND);
    perLogin.put(AcmeairStep.LIST_BOOKINGS, visits);
    perLogin.put(AcmeairStep.CANCEL_BOOKING, visits * SHARE_FOUND);
    if (logsOut) {
      perLogin.put(AcmeairStep.LOGOUT, 1.0);
    }
    double all = perLogin.values().stream().mapToDouble(Double::doubleValue).sum();
    Map<String, Double> mix = new LinkedHashMap<>();
    perLogin.forEach((step, count) -> mix.put(step.operation(), 100 * count / all));
    return mix;
  }
}
