// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

import java.util.List;
import java.util.Locale;

/** RandomText that look like those of people as far as their lengths go. */
public final class RandomText {

  private static final List<String> SUFFIXES = List.of(" Blvd", " Ave", " St", " Ln", "");
  private static final int LONGEST_WORD = 12;

  private RandomText() {}

  /** Small letters. */
  public static String letters(Draws draws, int least, int most) {
    return letters(draws, draws.between(least, most));
  }

  private static String letters(Draws draws, int length) {
    StringBuilder text = new StringBuilder(length);
    append(draws, text, length);
    return text.toString();
  }

  private static void append(Draws draws, StringBuilder text, int letters) {
    for (int i = 0; i < letters; i++) {
      text.append((char) ('a' + draws.below(26)));
    }
  }

  /** Small letters after a capital. */
  public static String capitalised(Draws draws, int least, int most) {
    String text = letters(draws, least, most);
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
  }

  /** Words of 1 to 12 letters with blanks between them, up to a length that is drawn. */
  public static String words(Draws draws, int least, int most) {
    int length = draws.between(least, most);
    StringBuilder text = new StringBuilder(length);
    while (text.length() < length) {
      if (!text.isEmpty() && text.length() + 1 < length) {
        text.append(' ');
      }
      append(draws, text, Math.min(draws.between(1, LONGEST_WORD), length - text.length()));
    }
    return text.toString();
  }

  /** Digits, of which the first may be 0. */
  public static String digits(Draws draws, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append((char) ('0' + draws.below(10)));
    }
    return text.toString();
  }

  /** A telephone number, one of two forms. */
  public static String telephone(Draws draws) {
    return draws.half()
        ? "+1 " + digits(draws, 3) + " " + digits(draws, 3) + " " + digits(draws, 4)
        : "+"
            + digits(draws, 2)
            + " "
            + digits(draws, 2)
            + " "
            + digits(draws, 3)
            + " "
            + digits(draws, 4);
  }

  /** An address for mail, of a name. */
  public static String email(Draws draws, String firstName, String lastName) {
    return firstName.toLowerCase(Locale.ROOT)
        + "."
        + lastName.toLowerCase(Locale.ROOT)
        + "@"
        + letters(draws, 3, 10)
        + ".com";
  }

  /** Number and street. */
  public static String street(Draws draws) {
    return digits(draws, draws.between(1, 5))
        + " "
        + capitalised(draws, 1, 11)
        + SUFFIXES.get(draws.below(SUFFIXES.size()));
  }

  /** What may stand beside the street, or nothing in half of all cases. */
  public static String secondStreet(Draws draws) {
    return draws.half() ? "" : letters(draws, 5, 20);
  }

  /** A city. */
  public static String city(Draws draws) {
    return capitalised(draws, 4, 14);
  }

  /** Two capitals. */
  public static String state(Draws draws) {
    return letters(draws, 2).toUpperCase(Locale.ROOT);
  }

  /** Five digits. */
  public static String zip(Draws draws) {
    return digits(draws, 5);
  }

  /** USA in half of all cases. */
  public static String country(Draws draws) {
    return draws.half() ? "USA" : capitalised(draws, 6, 16);
  }
}
