// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What is known of flights without asking the database. That there is no such segment or no flight
 * is known as well.
 */
final class FlightCaches {

  /**
   * Beyond any real working set (some 5,000 entries); what comes on top is asked for each time, so
   * that made-up airports and dates cannot fill the memory.
   */
  private static final int MOST_ENTRIES = 50_000;

  /** Two airports. */
  record Pair(String from, String to) {}

  /** A segment on a day. */
  record Departure(String segmentId, LocalDate day) {}

  private final boolean enabled;
  private final Map<Pair, Optional<Segment>> segments = new ConcurrentHashMap<>();
  private final Map<Departure, List<String>> flights = new ConcurrentHashMap<>();
  private final Map<String, OptionalInt> miles = new ConcurrentHashMap<>();

  /**
   * @param enabled whether to know anything
   */
  FlightCaches(boolean enabled) {
    this.enabled = enabled;
  }

  Optional<Segment> segment(Pair pair, Function<Pair, Optional<Segment>> source) {
    return cached(segments, pair, () -> source.apply(pair));
  }

  /** The texts of the flights of a departure. */
  List<String> flights(Departure departure, Supplier<List<String>> source) {
    return cached(flights, departure, source);
  }

  OptionalInt miles(String segmentId, Function<String, OptionalInt> source) {
    return cached(miles, segmentId, () -> source.apply(segmentId));
  }

  private <K, V> V cached(Map<K, V> cache, K key, Supplier<V> source) {
    if (!enabled) {
      return source.get();
    }
    V known = cache.get(key);
    if (known == null) {
      known = source.get(); // Outside any lock: two may ask the database for the same.
      if (cache.size() < MOST_ENTRIES) {
        cache.put(key, known);
      }
    }
    return known;
  }
}
