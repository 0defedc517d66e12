// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

/**
 * The user name of a person's number, and the word of a tag's: a letter, six digits to the base 36
 * in which no two numbers are alike, and none to four letters more.
 */
public final class Names {

  private static final long NUMBERS = 2_176_782_336L; // 36 to the power of 6
  private static final long FACTOR = 1_000_003; // has no divisor in common with 36
  private static final long SHIFT = 12_345;
  private static final int LETTERS = 26;

  /** Of 100 names, those that are no longer than 7, 8, 9 and 10 characters. */
  private static final int[] UP_TO = {13, 30, 55, 79};

  private Names() {}

  /**
   * The name of a number.
   *
   * @param id from 1 to 2,176,782,335
   */
  public static String of(int id) {
    long number = (id * FACTOR + SHIFT) % NUMBERS;
    StringBuilder name = new StringBuilder(11).append(letter(id));
    for (long place = NUMBERS / 36; place > 0; place /= 36) {
      name.append(Character.forDigit((int) (number / place % 36), 36));
    }
    int hundredth = (int) (number % 100);
    long rest = number;
    for (int limit : UP_TO) {
      if (hundredth >= limit) {
        name.append(letter(rest));
        rest /= LETTERS;
      }
    }
    return name.toString();
  }

  private static char letter(long number) {
    return (char) ('a' + (int) (number % LETTERS));
  }
}
