// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import java.util.Set;

/** The workload's version, and its operations as servers count them and injectors issue them. */
public final class Operations {

  /** The version of the workload AcmeAir, whatever its topology. */
  public static final String VERSION = "1.0.0";

  public static final String LOGIN = "login";
  public static final String VIEW_PROFILE = "view-profile";
  public static final String UPDATE_CUSTOMER = "update-customer";
  public static final String QUERY_FLIGHT = "query-flight";
  public static final String BOOK_FLIGHT = "book-flight";
  public static final String LIST_BOOKINGS = "list-bookings";
  public static final String CANCEL_BOOKING = "cancel-booking";
  public static final String LOGOUT = "logout";

  /** Calls between services, which no injector issues, begin with {@code internal-}. */
  public static final String INTERNAL_VALIDATE_ID = "internal-validateid";

  /** The miles of a segment. */
  public static final String INTERNAL_REWARD_MILES = "internal-rewardmiles";

  /** Miles added to a customer's. */
  public static final String INTERNAL_MILES = "internal-miles";

  /** All that injectors issue. */
  public static final Set<String> ALL =
      Set.of(
          LOGIN,
          VIEW_PROFILE,
          UPDATE_CUSTOMER,
          QUERY_FLIGHT,
          BOOK_FLIGHT,
          LIST_BOOKINGS,
          CANCEL_BOOKING,
          LOGOUT);

  private Operations() {}
}
