// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.booking;

import dev.steelyard.acmeair.InvalidInputException;
import java.util.List;
import java.util.Optional;

/**
 * What a customer wants to book.
 *
 * @param customerId the customer
 * @param legs the way out and, unless the booking is one way, the way back
 */
public record BookingRequest(String customerId, List<Leg> legs) {

  /**
   * One flight. Both ids are taken as they are: they are not looked up, and drivers send the text
   * {@code null} for those they do not know.
   *
   * @param flightId the flight
   * @param segmentId its segment, where bookings are to keep it
   */
  public record Leg(String flightId, Optional<String> segmentId) {}

  public BookingRequest {
    legs = List.copyOf(legs);
  }

  /**
   * Reads the fields of the form.
   *
   * @param oneWay {@code true} for no way back, anything else for one
   * @throws InvalidInputException if a field is missing
   */
  public static BookingRequest of(
      String userId,
      String toFlightId,
      String toSegmentId,
      String returnFlightId,
      String returnSegmentId,
      String oneWay) {
    String customer = InvalidInputException.required("userid", userId);
    Leg out =
        new Leg(
            InvalidInputException.required("toFlightId", toFlightId),
            Optional.of(InvalidInputException.required("toFlightSegId", toSegmentId)));
    if ("true".equals(oneWay)) {
      return new BookingRequest(customer, List.of(out));
    }
    Leg back =
        new Leg(
            InvalidInputException.required("retFlightId", returnFlightId),
            Optional.of(InvalidInputException.required("retFlightSegId", returnSegmentId)));
    return new BookingRequest(customer, List.of(out, back));
  }

  /** The same request for bookings that do not keep their segment. */
  public BookingRequest withoutSegments() {
    return new BookingRequest(
        customerId, legs.stream().map(leg -> new Leg(leg.flightId(), Optional.empty())).toList());
  }

  /** Whether there is no way back. */
  public boolean oneWay() {
    return legs.size() == 1;
  }
}
