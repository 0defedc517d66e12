// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.booking;

import java.time.Instant;
import java.util.Optional;

/**
 * A booking of one flight.
 *
 * @param id of the booking
 * @param customerId whose it is
 * @param flightId the flight, which is not looked up
 * @param segmentId its segment, where bookings keep it
 * @param date when it was made
 */
public record Booking(
    String id, String customerId, String flightId, Optional<String> segmentId, Instant date) {}
