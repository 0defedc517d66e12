// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import java.util.Arrays;
import java.util.List;

/** The operations, in the order of their indexes. */
public enum AcmeairStep {
  /** Starts a session, or gets a token. */
  LOGIN("login"),
  /** Reads the customer. */
  VIEW_PROFILE("view-profile"),
  /** Writes the customer back, moved to the next house. */
  UPDATE_CUSTOMER("update-customer"),
  /** Searches flights there and back. */
  QUERY_FLIGHT("query-flight"),
  /** Books the flight found last. */
  BOOK_FLIGHT("book-flight"),
  /** Lists the customer's bookings. */
  LIST_BOOKINGS("list-bookings"),
  /** Cancels one of the bookings listed. */
  CANCEL_BOOKING("cancel-booking"),
  /** Ends the session; the microservices have no such route. */
  LOGOUT("logout");

  private final String operation;

  AcmeairStep(String operation) {
    this.operation = operation;
  }

  /** Name in settings, logs and reports. */
  public String operation() {
    return operation;
  }

  /**
   * The steps of a topology.
   *
   * @param logsOut whether it has a logout
   */
  public static List<AcmeairStep> all(boolean logsOut) {
    return Arrays.stream(values()).filter(step -> logsOut || step != LOGOUT).toList();
  }
}
