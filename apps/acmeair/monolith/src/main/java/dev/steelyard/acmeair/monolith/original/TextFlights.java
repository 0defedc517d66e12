// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith.original;

import dev.steelyard.acmeair.flight.Flight;
import dev.steelyard.acmeair.flight.FlightRepository;
import dev.steelyard.acmeair.flight.Segment;
import dev.steelyard.acmeair.json.JsonStyle;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Segments as texts, parsed for each leg of a query although the segment is remembered.
 *
 * @param stored where they come from
 * @param texts of the segments that there are
 */
record TextFlights(FlightRepository stored, Map<Segment, String> texts)
    implements FlightRepository {

  TextFlights(FlightRepository stored) {
    this(stored, new ConcurrentHashMap<>());
  }

  @Override
  public Optional<Segment> segment(String from, String to) {
    return stored
        .segment(from, to)
        .map(segment -> parsed(texts.computeIfAbsent(segment, TextFlights::text)));
  }

  private static Segment parsed(String text) {
    Map<String, Object> members = Texts.parsed(text);
    return new Segment(
        (String) members.get("_id"),
        (String) members.get("originPort"),
        (String) members.get("destPort"),
        ((Long) members.get("miles")).intValue());
  }

  private static String text(Segment segment) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("_id", segment.id());
    members.put("originPort", segment.from());
    members.put("destPort", segment.to());
    members.put("miles", segment.miles());
    return JsonStyle.WIDE.print(members);
  }

  @Override
  public List<Flight> flights(Segment segment, LocalDate day) {
    return stored.flights(segment, day);
  }

  @Override
  public OptionalInt miles(String segmentId) {
    return stored.miles(segmentId);
  }

  @Override
  public long count() {
    return stored.count();
  }

  @Override
  public void forget() {
    stored.forget();
  }
}
