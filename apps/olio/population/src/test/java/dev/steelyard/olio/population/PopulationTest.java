// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.ZoneId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PopulationTest {

  @ParameterizedTest
  @CsvSource({
    "1, 2500, 622, 1866",
    "25, 2500, 622, 1866",
    "100, 10000, 2311, 6933",
    "200, 20000, 3808, 11424",
    "400, 40000, 4820, 14460",
    "600, 60000, 4975, 14925",
    "1000, 100000, 5000, 15000",
  })
  void numbersOfRowsAreThoseOfTheOriginal(int users, int persons, int tags, int events) {
    Scale scale = new Scale(users);
    assertEquals(persons, scale.persons());
    assertEquals(tags, scale.tags());
    assertEquals(events, scale.events());
  }

  @Test
  void noTwoNumbersHaveOneNameAndLengthsHaveTheirShares() {
    int names = 100_000;
    Set<String> seen = new HashSet<>();
    int[] lengths = new int[12];
    for (int id = 1; id <= names; id++) {
      String name = Names.of(id);
      assertTrue(name.matches("[a-z][0-9a-z]{6}[a-z]{0,4}"), name);
      assertTrue(seen.add(name), name);
      lengths[name.length()]++;
    }
    double[] shares = {0.13, 0.17, 0.25, 0.24, 0.21};
    for (int i = 0; i < shares.length; i++) {
      assertEquals(shares[i], lengths[7 + i] / (double) names, 0.01);
    }
    // Who has loaded data by another name finds nobody.
    assertEquals("b00lp4smo", Names.of(1));
  }

  /** They stand in a file and not in the JVM, which knows them all if it is Java 17 or newer. */
  @Test
  void timeZonesAreThoseThatEveryJvmKnows() {
    assertEquals(585, Zones.NAMES.size());
    assertEquals(List.copyOf(new TreeSet<>(Zones.NAMES)), Zones.NAMES);
    assertTrue(ZoneId.getAvailableZoneIds().containsAll(Zones.NAMES));
    for (String young : List.of("Europe/Kyiv", "America/Ciudad_Juarez", "Pacific/Kanton")) {
      assertFalse(Zones.NAMES.contains(young), young);
    }
  }

  @Test
  void lowNumbersOfTagsAreDrawnOften() {
    Draws draws = new Draws(1);
    int tags = 2311;
    int[] drawn = new int[tags + 1];
    int all = 200_000;
    long sum = 0;
    for (int i = 0; i < all; i++) {
      int tag = Popularity.tag(draws, tags);
      drawn[tag]++;
      sum += tag;
    }
    // The mean of what is left when the one in 22,000 beyond the last tag is drawn again.
    assertEquals(0.1 * tags, sum / (double) all, 3);
    assertTrue(drawn[1] > all / tags * 8, "the first: " + drawn[1]);
  }

  @Test
  void textsHaveTheirLengthsAndCharacters() {
    Draws draws = new Draws(2);
    for (int i = 0; i < 2000; i++) {
      String words = RandomText.words(draws, 15, 50);
      assertTrue(words.matches("[a-z ]{15,50}") && !words.contains("  "), words);
      for (String word : words.split(" ", -1)) {
        // One letter that is left over goes to the last word.
        assertTrue(!word.isEmpty() && word.length() <= 13, words);
      }
      assertTrue(RandomText.telephone(draws).matches("\\+(1 \\d{3}|\\d{2} \\d{2}) \\d{3} \\d{4}"));
      assertTrue(RandomText.street(draws).matches("\\d{1,5} [A-Z][a-z]{0,10}( (Blvd|Ave|St|Ln))?"));
      assertTrue(RandomText.email(draws, "Ab", "Cd").matches("ab\\.cd@[a-z]{3,10}\\.com"));
    }
  }

  @Test
  void distinctNumbersAreDistinctAndLeaveOneOut() {
    Draws draws = new Draws(3);
    for (int i = 0; i < 500; i++) {
      int[] drawn = draws.distinct(10, 12, 5);
      Set<Integer> seen = new HashSet<>();
      for (int each : drawn) {
        assertTrue(each >= 1 && each <= 12 && each != 5 && seen.add(each));
      }
    }
  }
}
