// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What this JVM has done since it started, for comparison with what its clients did. */
@ApplicationScoped
public class Stats {

  /** What is counted. */
  public enum Count {
    PERSONS_ADDED("personsAdded"),
    EVENTS_ADDED("eventsAdded"),
    ATTENDANCES_ADDED("attendancesAdded"),
    UPLOADS("uploads"),
    GEOCODER_CALLS("geocoderCalls"),
    GEOCODER_FAILURES("geocoderFailures"),
    CACHE_HITS("cacheHits"),
    CACHE_MISSES("cacheMisses"),
    TRANSACTIONS_REPEATED("transactionsRepeated");

    private final String key;

    Count(String key) {
      this.key = key;
    }

    /** Its name in answers. */
    public String key() {
      return key;
    }
  }

  private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class);

  public Stats() {
    for (Count each : Count.values()) {
      counts.put(each, new LongAdder());
    }
  }

  /** One more. */
  public void add(Count count) {
    counts.get(count).increment();
  }

  /** How many. */
  public long get(Count count) {
    return counts.get(count).sum();
  }
}
