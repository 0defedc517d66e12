// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import java.time.LocalDate;

/**
 * The frame of all journeys of a run.
 *
 * @param customers customers are drawn from numbers 0 to this, exclusive
 * @param today the servers' day
 * @param visitsPerLogin visits that follow a login
 * @param logsOut whether a logout follows the last of them
 */
public record Plan(int customers, LocalDate today, int visitsPerLogin, boolean logsOut) {
  /** Searches of one visit. */
  static final int QUERIES = 5;

  /** Of the visits, one in so many looks at the profile, and one in so many cancels bookings. */
  static final int ONE_VISIT_IN = 4;

  /** Bookings that a customer keeps when it cancels. */
  static final int KEPT_BOOKINGS = 2;
}
