// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.booking;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Bookings: made, listed, cancelled. Nothing is reserved and no flight is looked up. */
@Singleton
public final class BookingService {

  private final BookingRepository bookings;
  private final Clock clock;

  /**
   * @param clock tells when a booking is made
   */
  @Inject
  public BookingService(BookingRepository bookings, Clock clock) {
    this.bookings = bookings;
    this.clock = clock;
  }

  /**
   * Makes a booking for each leg.
   *
   * @return their ids, in the order of the legs
   */
  public List<String> book(BookingRequest request) {
    return request.legs().stream().map(leg -> add(request.customerId(), leg)).toList();
  }

  private String add(String customerId, BookingRequest.Leg leg) {
    String id = UUID.randomUUID().toString();
    bookings.add(new Booking(id, customerId, leg.flightId(), leg.segmentId(), clock.instant()));
    return id;
  }

  /** The bookings of a customer. */
  public List<Booking> byCustomer(String customerId) {
    return bookings.byCustomer(customerId);
  }

  /** Cancels a booking. An unknown one is none to cancel and no error. */
  public void cancel(String bookingId) {
    bookings.remove(bookingId);
  }

  /**
   * Cancels a booking that is found first. An unknown one is none to cancel and no error; nor is
   * somebody else's.
   *
   * @return the segment whose miles are to be taken back
   */
  public Optional<String> cancelOwn(String customerId, String bookingId) {
    return bookings
        .find(bookingId)
        .filter(booking -> customerId.equals(booking.customerId()))
        // Of two that cancel at once, only the one that removed it takes back the miles.
        .filter(booking -> bookings.remove(bookingId))
        .flatMap(Booking::segmentId);
  }
}
