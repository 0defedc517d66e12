// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.olio.Settings;
import dev.steelyard.olio.population.Names;
import dev.steelyard.olio.population.Scale;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PopulationTest {

  private static final Scale SCALE = new Scale(25);
  private static final LocalDateTime TODAY = Settings.TODAY.atStartOfDay();

  private final Population population = new Population(SCALE, 1, Settings.TODAY);

  private static List<List<Object[]>> all(int numbers, IntFunction<List<Object[]>> rows) {
    return IntStream.rangeClosed(1, numbers).mapToObj(rows).toList();
  }

  /** Each group has from least to most rows, with this mean. */
  private static void spread(List<List<Object[]>> groups, int least, int most, double mean) {
    int sum = 0;
    for (List<Object[]> group : groups) {
      assertTrue(group.size() >= least && group.size() <= most, () -> "" + group.size());
      sum += group.size();
    }
    assertEquals(mean, sum / (double) groups.size(), mean * 0.03);
  }

  /** No row comes twice. */
  private static void distinct(List<List<Object[]>> groups) {
    Set<List<Object>> seen = new HashSet<>();
    groups.forEach(
        group ->
            group.forEach(row -> assertTrue(seen.add(Arrays.asList(row)), Arrays.toString(row))));
  }

  @Test
  void eventsHaveAttendeesTagsAndCommentsAsInTheOriginal() {
    int events = SCALE.events();
    List<List<Object[]>> attendances = all(events, population::attendances);
    spread(attendances, 10, 100, 55);
    distinct(attendances);
    List<List<Object[]>> links = all(events, population::tagLinks);
    spread(links, 1, 7, 4);
    distinct(links);
    List<List<Object[]>> comments = all(events, population::comments);
    spread(comments, 0, 20, 10);
    for (List<Object[]> ofOne : comments) {
      for (Object[] comment : ofOne) {
        assertEquals(ofOne.get(0)[4], comment[4]);
        assertTrue(comment[2].toString().matches("[a-z]{10,1000}"));
        int rating = (Integer) comment[3];
        assertTrue(rating >= 2 && rating <= 5);
      }
    }
  }

  @Test
  void personsHaveFriendsAndInvitationsAndNeverThemselves() {
    int persons = SCALE.persons();
    List<List<Object[]>> friends = all(persons, population::friends);
    spread(friends, 2, 28, 15);
    distinct(friends);
    List<List<Object[]>> invitations = all(persons, population::invitations);
    spread(invitations, 2, 10, 6);
    distinct(invitations);
    for (List<List<Object[]>> pairs : List.of(friends, invitations)) {
      pairs.forEach(group -> group.forEach(row -> assertNotEquals(row[0], row[1])));
    }
  }

  @Test
  void tagsCountTheirEventsAndManyHaveNone() {
    int[] references = population.references();
    int links = all(SCALE.events(), population::tagLinks).stream().mapToInt(List::size).sum();
    assertEquals(links, Arrays.stream(references).sum());
    long unused = Arrays.stream(references).skip(1).filter(each -> each == 0).count();
    assertEquals(0.46, unused / (double) SCALE.tags(), 0.05);
  }

  @Test
  void columnsHoldWhatTheTablesTake() {
    for (int id = 1; id <= SCALE.events(); id++) {
      Object[] event = population.event(id);
      assertTrue(event[1].toString().length() >= 15 && event[1].toString().length() <= 20);
      assertTrue(event[3].toString().length() >= 50 && event[3].toString().length() <= 495);
      assertTrue(event[4].toString().length() <= 20);
      assertEquals("e" + id + "t.jpg", event[7]);
      LocalDateTime time = ((Timestamp) event[9]).toLocalDateTime();
      assertTrue(time.getHour() >= 7 && time.getHour() <= 21 && time.getMinute() % 15 == 0);
      assertFalse(time.isBefore(TODAY));
      assertTrue(Duration.between(TODAY, time).toDays() <= 540);
      assertFalse(((Timestamp) event[10]).toLocalDateTime().isAfter(TODAY));
    }
    for (int id = 1; id <= SCALE.persons(); id++) {
      Object[] person = population.person(id);
      assertEquals(Names.of(id), person[1]);
      assertEquals("" + id, person[2]);
      assertTrue(person[7].toString().length() >= 250 && person[7].toString().length() <= 2500);
      Object[] address = population.address(id);
      assertTrue(Math.abs((Double) address[7]) <= 66.560556);
      assertTrue(Math.abs((Double) address[8]) <= 180);
    }
  }

  @Test
  void aSeedMakesOneDataSet() {
    Population other = new Population(SCALE, 2, Settings.TODAY);
    assertEquals(
        Arrays.toString(population.person(7)),
        Arrays.toString(new Population(SCALE, 1, Settings.TODAY).person(7)));
    assertNotEquals(Arrays.toString(population.person(7)), Arrays.toString(other.person(7)));
  }
}
