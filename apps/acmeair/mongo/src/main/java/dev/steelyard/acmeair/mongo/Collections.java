// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

/** The names of the collections. */
public final class Collections {

  public static final String CUSTOMER = "customer";
  public static final String SESSION = "customerSession";
  public static final String BOOKING = "booking";
  public static final String FLIGHT = "flight";
  public static final String SEGMENT = "flightSegment";
  public static final String AIRPORT = "airportCodeMapping";

  /** Ours, not the original's: what is loaded. */
  public static final String DATA_SET = "dataSet";

  private Collections() {}
}
