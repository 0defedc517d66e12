// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import java.time.LocalDate;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

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

  /**
   * Share of the searches that find an outbound flight: 170 of the 210 pairs of airports have a
   * segment, and of the 6 days asked for, 5 have a flight on the day for which the data was loaded.
   */
  static final double FOUND = 170.0 / 210 * 5 / 6;

  /**
   * Operation to percent, sum 100, after a long time: then as many bookings are cancelled as made.
   *
   * @param visitsPerLogin visits that follow a login
   * @param logsOut whether there is a logout
   */
  public static Map<String, Double> stationaryMix(int visitsPerLogin, boolean logsOut) {
    Map<Step, Double> perLogin = new EnumMap<>(Step.class);
    double visits = visitsPerLogin;
    perLogin.put(Step.LOGIN, 1.0);
    perLogin.put(Step.VIEW_PROFILE, visits / ONE_VISIT_IN);
    perLogin.put(Step.UPDATE_CUSTOMER, visits / ONE_VISIT_IN);
    perLogin.put(Step.QUERY_FLIGHT, visits * QUERIES);
    perLogin.put(Step.BOOK_FLIGHT, visits * FOUND);
    perLogin.put(Step.LIST_BOOKINGS, visits);
    perLogin.put(Step.CANCEL_BOOKING, visits * FOUND);
    if (logsOut) {
      perLogin.put(Step.LOGOUT, 1.0);
    }
    double all = perLogin.values().stream().mapToDouble(Double::doubleValue).sum();
    Map<String, Double> mix = new LinkedHashMap<>();
    perLogin.forEach((step, count) -> mix.put(step.operation(), 100 * count / all));
    return mix;
  }
}
