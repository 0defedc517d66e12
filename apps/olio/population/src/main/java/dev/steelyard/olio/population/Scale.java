// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

/**
 * How many rows there are for a number of concurrent users.
 *
 * @param users concurrent users that the data is for; fewer than 25 count as 25
 */
public record Scale(int users) {

  private static final int LEAST = 25;
  private static final int PERSONS_PER_USER = 100;
  private static final int MOST_TAGS = 5000;
  private static final int EVENTS_PER_TAG = 3;

  /** Raises too small a number. */
  public Scale {
    users = Math.max(LEAST, users);
  }

  /** Registered persons, and as many addresses. */
  public int persons() {
    return PERSONS_PER_USER * users;
  }

  /** Tags: no more than 5,000, however many persons. */
  public int tags() {
    double rest = StrictMath.exp(-persons() / 10_000.0);
    return (int) Math.round(MOST_TAGS * (1 - rest) / (1 + rest));
  }

  /** Events. */
  public int events() {
    return EVENTS_PER_TAG * tags();
  }
}
