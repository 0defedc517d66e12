// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

/**
 * What a visit has learnt of flights; a booking sends it as it is.
 *
 * @param available whether the last search that was understood found a flight there
 * @param there the last flight there that was found
 * @param back the flight back that goes with it
 * @param oneWay {@code true}, {@code false}, or {@code null} as long as no answer told
 */
public record Trip(boolean available, Flight there, Flight back, String oneWay) {
  /** A flight by its id and that of its segment, as a booking tells them. */
  public record Flight(String id, String segmentId) {
    /** No flight is known: its ids are sent as this text. */
    static final Flight UNKNOWN = new Flight("null", "null");
  }

  /** Nothing is known yet. */
  static final Trip NONE = new Trip(false, Flight.UNKNOWN, Flight.UNKNOWN, "null");

  /** What is known after another answer. */
  Trip after(Found found) {
    return new Trip(
        found.there() != null,
        found.there() != null ? found.there() : there,
        found.back() != null ? found.back() : found.secondLeg() ? Flight.UNKNOWN : back,
        found.secondLeg() ? Boolean.toString(found.back() == null) : oneWay);
  }

  /** Whether the booking is for a flight there alone. */
  boolean isOneWay() {
    return !"false".equals(oneWay);
  }

  /**
   * What one answer offers.
   *
   * @param there the last flight there, or null
   * @param back the last flight back, or null
   * @param secondLeg whether the answer tells of the way back at all
   */
  record Found(Flight there, Flight back, boolean secondLeg) {}
}
