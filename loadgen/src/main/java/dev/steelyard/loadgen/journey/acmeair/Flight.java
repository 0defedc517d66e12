// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

/**
 * What a booking says of a flight.
 *
 * @param id of the flight
 * @param segmentId of its segment
 */
public record Flight(String id, String segmentId) {
  /** No flight is known: its ids are sent as this text. */
  static final Flight UNKNOWN = new Flight("null", "null");
}
