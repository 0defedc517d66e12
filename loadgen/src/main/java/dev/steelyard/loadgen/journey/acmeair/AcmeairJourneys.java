// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.User;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * What the users of an injector share: turns that are counted over all of them together, as the
 * JMeter plans count over all their threads. Thread-safe.
 */
public final class AcmeairJourneys implements Journeys {
  /** Outcomes, by their index. */
  public static final List<String> OUTCOMES =
      List.of("outbound-found", "return-found", "update-overtaken");

  /** Index of the outcome of a search that found a flight there. */
  static final int OUTBOUND_FOUND = 0;

  /** Index of the outcome of a search that found a flight back. */
  static final int RETURN_FOUND = 1;

  /** Index of the outcome of an update after which an older profile was stored. */
  static final int UPDATE_OVERTAKEN = 2;

  // 14 and 15 have no common factor: in turn, all 210 pairs are asked for.
  private static final List<String> TO =
      List.of(
          "DEL", "FRA", "HKG", "LHR", "BOM", "YUL", "SVO", "JFK", "CDG", "FCO", "SIN", "SYD", "IKA",
          "NRT");
  private static final List<String> FROM =
      List.of(
          "NRT", "BOM", "DEL", "FRA", "AMS", "HKG", "LHR", "YUL", "SVO", "JFK", "CDG", "FCO", "SIN",
          "SYD", "IKA");

  /** Flights there are asked for today and on the days after, this many in all. */
  private static final int DAYS_THERE = 6;

  /** Flights back, on this many days after those. */
  private static final int DAYS_BACK = 7;

  /** No factor of the 210 pairs: the injectors of a run ask for other pairs at a time. */
  private static final int SEARCHES_APART = 53;

  /**
   * The form of a search.
   *
   * @param from code of the airport of departure
   * @param to code of the airport of arrival
   * @param fromDate day of the flight there, as {@code Mon Jun 15 00:00:00 UTC 2026}
   * @param returnDate day of the flight back, likewise
   */
  public record Search(String from, String to, String fromDate, String returnDate) {}

  final Plan plan;
  private final IntConsumer outcomes;
  private final List<String> days;
  private final Map<AcmeairStep, Integer> indexes = new EnumMap<>(AcmeairStep.class);
  private final AtomicLong searches;
  private final AtomicLong profileTurns;
  private final AtomicLong cancelTurns;

  /**
   * @param plan frame of the journeys
   * @param injector index of the injector: the turns of each begin elsewhere
   * @param outcomes is given the index of each outcome that is met
   */
  public AcmeairJourneys(Plan plan, int injector, IntConsumer outcomes) {
    this.plan = plan;
    searches = new AtomicLong((long) injector * SEARCHES_APART);
    profileTurns = new AtomicLong(injector);
    cancelTurns = new AtomicLong(injector);
    this.outcomes = outcomes;
    for (AcmeairStep step : AcmeairStep.all(plan.logsOut())) {
      indexes.put(step, indexes.size());
    }
    days =
        IntStream.range(0, DAYS_THERE + DAYS_BACK)
            .mapToObj(offset -> dateText(plan.today().plusDays(offset)))
            .toList();
  }

  @Override
  public AcmeairJourney start(User user) {
    return new AcmeairJourney(this, user.random());
  }

  /** The servers take a date as midnight in their own zone, whatever zone the text names. */
  private static String dateText(LocalDate day) {
    return DateTimeFormatter.ofPattern("EEE MMM dd '00:00:00 UTC' yyyy", Locale.ENGLISH)
        .format(day);
  }

  int indexOf(AcmeairStep step) {
    return indexes.get(step);
  }

  String drawCustomer(SplittableRandom random) {
    return "uid" + random.nextInt(plan.customers()) + "@email.com";
  }

  Search nextSearch(SplittableRandom random) {
    long turn = searches.getAndIncrement();
    return new Search(
        FROM.get((int) (turn % FROM.size())),
        TO.get((int) (turn % TO.size())),
        days.get(random.nextInt(DAYS_THERE)),
        days.get(DAYS_THERE + random.nextInt(DAYS_BACK)));
  }

  /** Whether the visit that asks looks at the profile: the first and every fourth after it. */
  boolean profileTurn() {
    return profileTurns.getAndIncrement() % Plan.ONE_VISIT_IN == 0;
  }

  /** Whether the visit that asks cancels bookings, likewise. */
  boolean cancelTurn() {
    return cancelTurns.getAndIncrement() % Plan.ONE_VISIT_IN == 0;
  }

  void count(int outcome) {
    outcomes.accept(outcome);
  }

  void count(Trip.Found found) {
    if (found.there() != null) {
      count(OUTBOUND_FOUND);
    }
    if (found.back() != null) {
      count(RETURN_FOUND);
    }
  }
}
