// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import dev.steelyard.acmeair.InvalidInputException;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Days in the two ways in which clients write them: {@code Fri Nov 20 00:00:00 UTC 2026} and {@code
 * Fri Nov 20 2026}, with anything after it. English names; the time and the zone, which may have
 * any name or none, do not matter.
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
      String year = YEAR.matcher(words[3]).matches() ? words[3] : words[words.length - 1];
      if (!YEAR.matcher(year).matches()) {
        throw new DateTimeException(year);
      }
      return LocalDate.of(
          Integer.parseInt(year), MONTHS.indexOf(words[1]) + 1, Integer.parseInt(words[2]));
    } catch (DateTimeException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw new InvalidInputException(
          "The field '" + field + "' is no date such as 'Fri Nov 20 00:00:00 UTC 2026'.");
    }
  }
}
