// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import dev.steelyard.acmeair.InvalidInputException;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Days in the ways in which clients write them: {@code Fri Nov 20 00:00:00 UTC 2026} and {@code Fri
 * Nov 20 00:00:00 2026 (UTC)} (extensions of the JMeter plans), {@code Fri, 20 Nov 2026 00:00:00
 * +0000} (another state of them) and {@code Fri Nov 20 2026} with anything after it (web pages).
 * English names; the time and the zone, which may have any name or none, do not matter.
 */
public final class FlightDates {

  private static final Pattern BLANKS = Pattern.compile("\\s+");
  private static final Pattern YEAR = Pattern.compile("\\d{4}");
  private static final List<String> MONTHS =
      Arrays.asList(
          "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec");

  private FlightDates() {}

  /**
   * The day of a text.
   *
   * @param field where the text comes from, for the message
   * @throws InvalidInputException if the text is no day
   */
  public static LocalDate parse(String field, String text) {
    String[] words = BLANKS.split(text.strip(), -1);
    try {
      boolean monthFirst = MONTHS.contains(words[1]);
      String month = words[monthFirst ? 1 : 2];
      String day = words[monthFirst ? 2 : 1];
      String year =
          Arrays.stream(words)
              .skip(3)
              .filter(YEAR.asMatchPredicate())
              .findFirst()
              .orElseThrow(() -> new DateTimeException("no year"));
      return LocalDate.of(Integer.parseInt(year), MONTHS.indexOf(month) + 1, Integer.parseInt(day));
    } catch (DateTimeException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw new InvalidInputException(
          "The field '" + field + "' is no date such as 'Fri Nov 20 00:00:00 UTC 2026'.");
    }
  }
}
