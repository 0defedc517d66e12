// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.json;

import dev.steelyard.acmeair.booking.Booking;
import dev.steelyard.acmeair.booking.BookingRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sets bookings.
 *
 * @param style white space
 * @param dates how dates are set
 */
public record BookingTexts(JsonStyle style, DateTexts dates) {

  /**
   * The reply to a request: {@code oneWay}, {@code returnBookingId} if there is a way back, {@code
   * departBookingId}.
   *
   * @param ids of what was booked, leg by leg
   */
  public static String made(BookingRequest request, List<String> ids) {
    Map<String, Object> reply = new LinkedHashMap<>();
    reply.put("oneWay", request.oneWay());
    if (!request.oneWay()) {
      reply.put("returnBookingId", ids.get(1));
    }
    reply.put("departBookingId", ids.get(0));
    return JsonStyle.COMPACT.print(reply);
  }

  /** An array of bookings. */
  public String list(List<Booking> bookings) {
    return style.array(bookings.stream().map(this::text).toList());
  }

  private String text(Booking booking) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("_id", booking.id());
    members.put("customerId", booking.customerId());
    members.put("flightId", booking.flightId());
    booking.segmentId().ifPresent(segment -> members.put("flightSegmentId", segment));
    members.put("dateOfBooking", booking.date());
    return style.print(members, dates::format);
  }
}
