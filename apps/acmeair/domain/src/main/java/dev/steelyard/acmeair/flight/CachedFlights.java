// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Remembers what a repository says of flights. That there is no such segment or no flight is
 * remembered as well.
 */
public final class CachedFlights implements FlightRepository {

  /**
   * Beyond any real working set (some 5,000 entries); what comes on top is asked for each time, so
   * that made-up airports and dates cannot fill the memory.
   */
  private static final int MOST_ENTRIES = 50_000;

  /** More than any code of ours has: what is longer is not remembered either. */
  private static final int MOST_CHARACTERS = 16;

  /** Two airports. */
  private record Pair(String from, String to) {}

  /** A segment on a day. */
  private record Departure(String segmentId, LocalDate day) {}

  private final FlightRepository source;
  // One map for all kinds of keys. Replaced as a whole: what was asked before a load is remembered
  // where nobody looks any more.
  private volatile Map<Object, Object> known = new ConcurrentHashMap<>();

  public CachedFlights(FlightRepository source) {
    this.source = source;
  }

  @Override
  public Optional<Segment> segment(String from, String to) {
    return from.length() + to.length() > MOST_CHARACTERS
        ? source.segment(from, to)
        : cached(new Pair(from, to), () -> source.segment(from, to));
  }

  @Override
  public List<Flight> flights(Segment segment, LocalDate day) {
    return cached(new Departure(segment.id(), day), () -> source.flights(segment, day));
  }

  @Override
  public OptionalInt miles(String segmentId) {
    return segmentId.length() > MOST_CHARACTERS
        ? source.miles(segmentId)
        : cached(segmentId, () -> source.miles(segmentId));
  }

  @Override
  public long count() {
    return source.count();
  }

  @Override
  public void forget() {
    known = new ConcurrentHashMap<>();
  }

  @SuppressWarnings("unchecked") // Each kind of key has values of its own kind.
  private <V> V cached(Object key, Supplier<V> asked) {
    Map<Object, Object> memory = known;
    Object value = memory.get(key);
    if (value == null) {
      value = asked.get(); // Outside any lock: two may ask for the same.
      if (memory.size() < MOST_ENTRIES) {
        memory.put(key, value);
      }
    }
    return (V) value;
  }
}
