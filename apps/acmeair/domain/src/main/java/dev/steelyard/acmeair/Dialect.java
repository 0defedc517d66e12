// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import dev.steelyard.acmeair.json.JsonStyle;

/**
 * Where the monolith and the microservices of the original differ in the data that they keep and
 * send. Everything else is one code.
 */
public enum Dialect {
  MONOLITH(JsonStyle.WIDE, 1_000_000, 1_000),
  MICROSERVICES(JsonStyle.RELAXED, 0, 0);

  private final JsonStyle style;
  private final int totalMiles;
  private final int milesThisYear;

  Dialect(JsonStyle style, int totalMiles, int milesThisYear) {
    this.style = style;
    this.totalMiles = totalMiles;
    this.milesThisYear = milesThisYear;
  }

  /** How documents are set. */
  public JsonStyle style() {
    return style;
  }

  /** {@code total_miles} of a new customer. */
  public int totalMiles() {
    return totalMiles;
  }

  /** {@code miles_ytd} of a new customer. */
  public int milesThisYear() {
    return milesThisYear;
  }

  /** Whether a second line of an address that is null is stored; else the field is left out. */
  public boolean keepsNullAddressLine() {
    return this == MICROSERVICES;
  }

  /** Whether a booking keeps the segment of its flight: services need it to take back miles. */
  public boolean bookingsNameSegment() {
    return this == MICROSERVICES;
  }

  /**
   * Whether the segment inside a flight is set in the monolith's way: members in another order, and
   * the miles as an object with the text of the number.
   */
  public boolean extendedMiles() {
    return this == MONOLITH;
  }

  /**
   * Whether the texts of flights are parsed and the reply serialised for each query; else the reply
   * is put together from the texts.
   */
  public boolean parsesFlights() {
    return this == MICROSERVICES;
  }

  /**
   * Whether counts are taken document by document (command {@code aggregate}) rather than from the
   * collection's own figure (command {@code count}), and whether services make sure once that there
   * is data at all.
   */
  public boolean countsDocuments() {
    return this == MICROSERVICES;
  }
}
