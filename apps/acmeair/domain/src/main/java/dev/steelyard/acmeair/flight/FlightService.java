// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.LongAdder;

/** Flights: what flies from here to there on a day, and how far it is. */
@Singleton
public final class FlightService {

  private final FlightRepository flights;
  private final LongAdder searches = new LongAdder();
  private final LongAdder successes = new LongAdder();
  private volatile boolean loaded;

  @Inject
  public FlightService(FlightRepository flights) {
    this.flights = flights;
  }

  /** Whether there are flights: counted until there are some, then remembered. */
  public boolean loaded() {
    loaded = loaded || flights.count() > 0;
    return loaded;
  }

  /** Forgets what was remembered: there are other flights now. */
  public void forget() {
    flights.forget();
    loaded = false;
  }

  /** The flights of each leg. */
  public List<List<Flight>> query(FlightQuery query) {
    return query.legs().stream().map(this::find).toList();
  }

  private List<Flight> find(FlightQuery.Leg leg) {
    List<Flight> found =
        flights
            .segment(leg.from(), leg.to())
            .map(segment -> flights.flights(segment, leg.day()))
            .orElse(List.of());
    searches.increment();
    if (!found.isEmpty()) {
      successes.increment();
    }
    return found;
  }

  /** The miles of a segment, or nothing for an unknown one. */
  public OptionalInt miles(String segmentId) {
    return flights.miles(segmentId);
  }

  /** How many legs were asked for since the start. */
  public long searches() {
    return searches.sum();
  }

  /** How many of them had a flight. */
  public long successes() {
    return successes.sum();
  }
}
