// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.json;

import dev.steelyard.acmeair.flight.Flight;
import dev.steelyard.acmeair.flight.Segment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Sets flights. Texts are remembered where flights are: the original keeps them in its caches in
 * the place of the flights.
 */
public final class FlightTexts {

  private final JsonStyle style;
  private final DateTexts dates;
  private final Function<Segment, Map<String, Object>> nested;
  private final boolean caching;
  private final Map<Flight, String> known = new ConcurrentHashMap<>();

  /**
   * @param style white space
   * @param dates how dates are set
   * @param nested the members of the segment inside a flight
   * @param caching whether to remember texts
   */
  public FlightTexts(
      JsonStyle style,
      DateTexts dates,
      Function<Segment, Map<String, Object>> nested,
      boolean caching) {
    this.style = style;
    this.dates = dates;
    this.nested = nested;
    this.caching = caching;
  }

  /** The texts of these flights. */
  public List<String> of(List<Flight> flights) {
    return flights.stream()
        .map(flight -> caching ? known.computeIfAbsent(flight, this::text) : text(flight))
        .toList();
  }

  private String text(Flight flight) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("_id", flight.id());
    members.put("firstClassBaseCost", flight.firstClassBaseCost());
    members.put("economyClassBaseCost", flight.economyClassBaseCost());
    members.put("numFirstClassSeats", flight.numFirstClassSeats());
    members.put("numEconomyClassSeats", flight.numEconomyClassSeats());
    members.put("airplaneTypeId", flight.airplaneTypeId());
    members.put("flightSegmentId", flight.segment().id());
    members.put("scheduledDepartureTime", flight.departure());
    members.put("scheduledArrivalTime", flight.arrival());
    members.put("flightSegment", nested.apply(flight.segment()));
    return style.print(members, dates::format);
  }
}
