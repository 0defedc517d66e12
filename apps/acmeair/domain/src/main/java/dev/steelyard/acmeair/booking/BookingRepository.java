// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.booking;

import java.util.List;
import java.util.Optional;

/** Where bookings are kept. */
public interface BookingRepository {

  /** Keeps a new booking. */
  void add(Booking booking);

  /** A booking, or nothing for an unknown id. */
  Optional<Booking> find(String id);

  /** All bookings of a customer. */
  List<Booking> byCustomer(String customerId);

  /** Removes a booking, if there is one, and tells whether there was. */
  boolean remove(String id);
}
