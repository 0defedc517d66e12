// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.User;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/** What the users of an injector share: the numbers of new persons, and outcomes. Thread-safe. */
public final class OlioJourneys implements Journeys {
  final OlioPlan plan;
  private final int injector;
  private final int injectors;
  private final IntConsumer outcomes;
  private final AtomicLong registered = new AtomicLong();

  /** What is counted of answers that are right. */
  enum Outcome {
    /** Pictures on home pages. */
    HOME_IMAGE_LISTED,
    /** Those of them that the browser had to fetch. */
    HOME_IMAGE_LOADED,
    /** Kilobytes (1,000) of them. */
    HOME_IMAGE_KILOBYTE,
    /** Pictures on pages of events with a tag. */
    TAG_IMAGE_LISTED,
    /** Pictures of events on their pages. */
    EVENT_IMAGE_LISTED,
    /** Views of an event in which the user could say that it attends. */
    COULD_ATTEND,
    /** Those in which it did. */
    ATTENDEE_ADDED,
    /** Log-outs. */
    LOGOUT;

    /** All, by their index. */
    static final List<Outcome> ALL = List.of(values());

    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Outcomes, by their index. */
  public static final List<String> OUTCOMES = Outcome.ALL.stream().map(Outcome::text).toList();

  /**
   * @param plan frame of the journeys
   * @param injector index of the injector
   * @param injectors number of them: they share out the numbers of new persons
   * @param outcomes is given the index of each outcome that is met
   */
  public OlioJourneys(OlioPlan plan, int injector, int injectors, IntConsumer outcomes) {
    this.plan = plan;
    this.injector = injector;
    this.injectors = injectors;
    this.outcomes = outcomes;
  }

  @Override
  public OlioJourney start(User user) {
    return new OlioJourney(this, user);
  }

  /** The number of a person that nobody is yet. */
  int newPerson() {
    return Math.toIntExact(
        plan.firstNew() + registered.getAndIncrement() * injectors + injector + 1);
  }

  void count(Outcome outcome) {
    outcomes.accept(Outcome.ALL.indexOf(outcome));
  }
}
