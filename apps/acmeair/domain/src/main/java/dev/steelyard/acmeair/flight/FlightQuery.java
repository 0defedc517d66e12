// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import dev.steelyard.acmeair.InvalidInputException;
import java.time.LocalDate;
import java.util.List;

/**
 * What a customer looks for.
 *
 * @param legs the way out and, unless only that is wanted, the way back
 */
public record FlightQuery(List<Leg> legs) {

  /**
   * One direction.
   *
   * @param from code of the airport; unknown ones have no flights
   * @param to the same
   * @param day of the departure
   */
  public record Leg(String from, String to, LocalDate day) {}

  public FlightQuery {
    legs = List.copyOf(legs);
  }

  /**
   * Reads the fields of the form.
   *
   * @param oneWay {@code true} for no way back, anything else for one
   * @throws InvalidInputException if a field is missing or a date is none
   */
  public static FlightQuery of(
      String fromAirport, String toAirport, String fromDate, String returnDate, String oneWay) {
    String from = InvalidInputException.required("fromAirport", fromAirport);
    String to = InvalidInputException.required("toAirport", toAirport);
    Leg out = new Leg(from, to, day("fromDate", fromDate));
    return "true".equals(oneWay)
        ? new FlightQuery(List.of(out))
        : new FlightQuery(List.of(out, new Leg(to, from, day("returnDate", returnDate))));
  }

  private static LocalDate day(String field, String text) {
    return FlightDates.parse(field, InvalidInputException.required(field, text));
  }
}
