// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.olio.population.Names;
import dev.steelyard.olio.population.Scale;
import dev.steelyard.olio.population.Zones;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** What users fill into forms. */
final class OlioData {
  private static final int LETTERS = 26;
  private static final int DAYS = 540;
  private static final double POPULAR = 0.1;
  private static final int TAGS_OF_EVENT = 7;
  private static final List<String> STREETS = List.of(" Blvd", " Ave", " St", " Ln", "");

  private OlioData() {}

  /** The form of a new person. */
  static Map<String, String> person(SplittableRandom random, int id) {
    String first = capitalised(random, 2, 12);
    String last = capitalised(random, 5, 15);
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("user_name", Names.of(id));
    fields.put("password", Integer.toString(id));
    fields.put("passwordx", Integer.toString(id));
    fields.put("first_name", first);
    fields.put("last_name", last);
    fields.put("email", first + "_" + last + "@" + letters(random, 3, 10) + ".com");
    fields.put("telephone", phone(random));
    fields.put("summary", words(random, 250, 2500));
    fields.put("timezone", zone(random));
    addAddress(fields, random);
    return fields;
  }

  /** The form of a new event. */
  static Map<String, String> event(
      SplittableRandom random, LocalDate today, Scale scale, String submitter) {
    LocalDate day = today.plusDays(random.nextInt(DAYS + 1));
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("title", words(random, 15, 20));
    fields.put("summary", words(random, 50, 100));
    fields.put("description", words(random, 100, 495));
    fields.put("submitter_user_name", submitter);
    fields.put("telephone", phone(random));
    fields.put("timezone", zone(random));
    fields.put("year", Integer.toString(day.getYear()));
    fields.put("month", Integer.toString(day.getMonthValue()));
    fields.put("day", Integer.toString(day.getDayOfMonth()));
    fields.put("hour", Integer.toString(random.nextInt(7, 22)));
    fields.put("minute", Integer.toString(15 * random.nextInt(4)));
    fields.put("tags", popularTags(random, scale.tags()));
    addAddress(fields, random);
    return fields;
  }

  /** Up to seven tags, of which those with low numbers are the popular ones. */
  private static String popularTags(SplittableRandom random, int tags) {
    Set<String> chosen = new LinkedHashSet<>();
    for (int i = random.nextInt(1, TAGS_OF_EVENT + 1); i > 0; i--) {
      double rank = tags;
      while (rank >= tags) {
        rank = -Math.log(1 - random.nextDouble()) * POPULAR * tags;
      }
      chosen.add(Names.of(1 + (int) rank));
    }
    return String.join(" ", chosen);
  }

  private static String zone(SplittableRandom random) {
    return Zones.NAMES.get(random.nextInt(Zones.NAMES.size()));
  }

  private static void addAddress(Map<String, String> fields, SplittableRandom random) {
    String kind = STREETS.get(random.nextInt(STREETS.size()));
    int number = random.nextInt(1, 100_000);
    fields.put("street1", number + " " + capitalised(random, 1, 11) + kind);
    fields.put("street2", random.nextBoolean() ? words(random, 5, 20) : "");
    fields.put("city", capitalised(random, 4, 14));
    fields.put("state", letters(random, 2, 2).toUpperCase(Locale.ROOT));
    fields.put("zip", "%05d".formatted(random.nextInt(100_000)));
    fields.put("country", random.nextBoolean() ? "USA" : capitalised(random, 6, 16));
  }

  private static String phone(SplittableRandom random) {
    int first = random.nextInt(100, 1000);
    int last = random.nextInt(1000, 10_000);
    return random.nextBoolean()
        ? "+1 %d %d %d".formatted(first, random.nextInt(100, 1000), last)
        : "+%d %d %d %d".formatted(first % 90 + 10, last % 90 + 10, first, last);
  }

  private static String capitalised(SplittableRandom random, int least, int most) {
    String word = letters(random, least, most);
    return Character.toUpperCase(word.charAt(0)) + word.substring(1);
  }

  private static String letters(SplittableRandom random, int least, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(least, most + 1); i > 0; i--) {
      text.append((char) ('a' + random.nextInt(LETTERS)));
    }
    return text.toString();
  }

  /** Words of 1 to 12 letters, so many characters in all. */
  private static String words(SplittableRandom random, int least, int most) {
    int length = random.nextInt(least, most + 1);
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      text.append(letters(random, 1, 12)).append(' ');
    }
    text.setLength(length);
    text.setCharAt(length - 1, 'a');
    return text.toString();
  }
}
