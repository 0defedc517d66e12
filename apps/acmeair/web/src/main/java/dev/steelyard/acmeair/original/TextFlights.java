// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.original;

import dev.steelyard.acmeair.flight.Flight;
import dev.steelyard.acmeair.flight.FlightRepository;
import dev.steelyard.acmeair.flight.Segment;
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
 * @param form of the texts
 * @param texts of the segments that there are
 */
public record TextFlights(FlightRepository stored, TextForm form, Map<Segment, String> texts)
    implements FlightRepository {

  /** Segments from there, in this form. */
  public TextFlights(FlightRepository stored, TextForm form) {
    this(stored, form, new ConcurrentHashMap<>());
  }

  @Override
  public Optional<Segment> segment(String from, String to) {
    return stored
        .segment(from, to)
        .map(segment -> parsed(texts.computeIfAbsent(segment, this::text)));
  }

  private Segment parsed(String text) {
    TextForm.Members members = form.parser().apply(text);
    return new Segment(
        members.text("_id"),
        members.text("originPort"),
        members.text("destPort"),
        members.number("miles"));
  }

  private String text(Segment segment) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("_id", segment.id());
    members.put("originPort", segment.from());
    members.put("destPort", segment.to());
    members.put("miles", segment.miles());
    return form.style().print(members);
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
