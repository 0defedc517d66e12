// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Where airports' segments and flights are kept. */
public interface FlightRepository {

  /** The segment between two airports, or nothing if there is none. */
  Optional<Segment> segment(String from, String to);

  /** The flights of a segment that leave on this day. */
  List<Flight> flights(Segment segment, LocalDate day);

  /** The miles of a segment, or nothing for an unknown one. */
  OptionalInt miles(String segmentId);

  /** How many flights there are, counted one by one. */
  long count();

  /** Forgets what was remembered, if anything: something else is kept now. */
  void forget();
}
