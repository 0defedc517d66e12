// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import dev.steelyard.olio.population.Draws;
import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.Names;
import dev.steelyard.olio.population.Popularity;
import dev.steelyard.olio.population.RandomText;
import dev.steelyard.olio.population.Scale;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of the data set: the same scale, seed and day make the same rows on any machine. Each is
 * made from its own number alone, so that tables can be filled side by side.
 */
final class Population {

  /** Days before and after the calendar's day that events and comments are spread over. */
  private static final int DAYS = 540;

  private static final double MOST_NORTHERN = 66.560556;
  private static final double MICRO = 1e6;

  /** What is drawn for, so that no two tables see the same numbers. */
  private enum Kind {
    PERSON(1),
    ADDRESS(2),
    EVENT(3),
    TAGS(4),
    ATTENDEES(5),
    COMMENTS(6),
    FRIENDS(7),
    INVITATIONS(8);

    private final int number;

    Kind(int number) {
      this.number = number;
    }
  }

  private final Scale scale;
  private final long seed;
  private final LocalDate today;

  Population(Scale scale, long seed, LocalDate today) {
    this.scale = scale;
    this.seed = seed;
    this.today = today;
  }

  private Draws draws(Kind kind, int id) {
    return Draws.of(seed, kind.number, id);
  }

  Object[] address(int id) {
    Draws draws = draws(Kind.ADDRESS, id);
    String second = RandomText.secondStreet(draws);
    return new Object[] {
      id,
      RandomText.street(draws),
      second.isEmpty() ? null : second,
      RandomText.city(draws),
      RandomText.state(draws),
      RandomText.zip(draws),
      RandomText.country(draws),
      rounded((2 * draws.fraction() - 1) * MOST_NORTHERN),
      rounded(180 - 360 * draws.fraction())
    };
  }

  private static double rounded(double degrees) {
    return Math.round(degrees * MICRO) / MICRO;
  }

  Object[] person(int id) {
    Draws draws = draws(Kind.PERSON, id);
    String first = RandomText.capitalised(draws, 2, 12);
    String last = RandomText.capitalised(draws, 5, 15);
    return new Object[] {
      id,
      Names.of(id),
      Integer.toString(id),
      first,
      last,
      RandomText.email(draws, first, last),
      RandomText.telephone(draws),
      RandomText.words(draws, 250, 2500),
      FileKind.PERSON.loadedName(id),
      FileKind.PERSON_THUMBNAIL.loadedName(id),
      "PST",
      draws.between(1, scale.persons())
    };
  }

  Object[] event(int id) {
    Draws draws = draws(Kind.EVENT, id);
    LocalTime time = LocalTime.of(draws.between(7, 21), 15 * draws.below(4));
    LocalDateTime when = today.plusDays(draws.between(0, DAYS)).atTime(time);
    LocalDateTime created = today.minusDays(draws.between(0, DAYS)).atStartOfDay();
    return new Object[] {
      id,
      RandomText.words(draws, 15, 20),
      RandomText.words(draws, 15, 50),
      RandomText.words(draws, 50, 495),
      RandomText.telephone(draws),
      Names.of(draws.between(1, scale.persons())),
      FileKind.EVENT.loadedName(id),
      FileKind.EVENT_THUMBNAIL.loadedName(id),
      FileKind.LITERATURE.loadedName(id),
      Timestamp.valueOf(when),
      Timestamp.valueOf(created),
      0,
      0,
      0,
      draws.between(1, scale.persons())
    };
  }

  /** The tags of an event: one to seven, popular ones often. */
  int[] tags(int event) {
    Draws draws = draws(Kind.TAGS, event);
    int[] tags = new int[draws.between(1, 7)];
    for (int have = 0; have < tags.length; ) {
      int tag = Popularity.tag(draws, scale.tags());
      boolean known = false;
      for (int i = 0; i < have; i++) {
        known |= tags[i] == tag;
      }
      if (!known) {
        tags[have++] = tag;
      }
    }
    return tags;
  }

  List<Object[]> tagLinks(int event) {
    List<Object[]> rows = new ArrayList<>();
    for (int tag : tags(event)) {
      rows.add(new Object[] {tag, event});
    }
    return rows;
  }

  /** How many events have each tag; the first number is unused. */
  int[] references() {
    int[] references = new int[scale.tags() + 1];
    for (int event = 1; event <= scale.events(); event++) {
      for (int tag : tags(event)) {
        references[tag]++;
      }
    }
    return references;
  }

  List<Object[]> attendances(int event) {
    Draws draws = draws(Kind.ATTENDEES, event);
    List<Object[]> rows = new ArrayList<>();
    for (int person : draws.distinct(draws.between(10, 100), scale.persons(), 0)) {
      rows.add(new Object[] {event, Names.of(person)});
    }
    return rows;
  }

  /** Comments of an event, without their keys. */
  List<Object[]> comments(int event) {
    Draws draws = draws(Kind.COMMENTS, event);
    Timestamp date = Timestamp.valueOf(today.minusDays(draws.between(0, DAYS)).atStartOfDay());
    List<Object[]> rows = new ArrayList<>();
    for (int left = draws.between(0, 20); left > 0; left--) {
      rows.add(
          new Object[] {
            Names.of(draws.between(1, scale.persons())),
            event,
            RandomText.letters(draws, 10, 1000),
            draws.between(2, 5),
            date
          });
    }
    return rows;
  }

  List<Object[]> friends(int person) {
    Draws draws = draws(Kind.FRIENDS, person);
    List<Object[]> rows = new ArrayList<>();
    for (int friend : draws.distinct(draws.between(2, 28), scale.persons(), person)) {
      rows.add(new Object[] {person, friend});
    }
    return rows;
  }

  /** Invitations that a person has sent, without their keys. */
  List<Object[]> invitations(int person) {
    Draws draws = draws(Kind.INVITATIONS, person);
    List<Object[]> rows = new ArrayList<>();
    for (int candidate : draws.distinct(draws.between(2, 10), scale.persons(), person)) {
      rows.add(new Object[] {Names.of(person), Names.of(candidate), (short) 0});
    }
    return rows;
  }
}
