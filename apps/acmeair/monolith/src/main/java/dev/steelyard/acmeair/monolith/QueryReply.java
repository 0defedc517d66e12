// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.flight.Flight;
import dev.steelyard.acmeair.flight.Segment;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.json.FlightTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Puts the reply to a query together from the texts of flights. */
final class QueryReply {

  private final FlightTexts texts;

  QueryReply(AcmeAirSettings settings) {
    this.texts =
        new FlightTexts(
            JsonStyle.WIDE, new DateTexts(settings.zone()), QueryReply::nested, settings.caching());
  }

  /** In the order of the original, the miles as an object with the text of the number. */
  private static Map<String, Object> nested(Segment segment) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("destPort", segment.to());
    members.put("originPort", segment.from());
    members.put("_id", segment.id());
    members.put("miles", Map.of("$numberLong", Integer.toString(segment.miles())));
    return members;
  }

  /**
   * The reply, JSON: {@code tripFlights}, an array of one or two legs, and {@code tripLegs}, their
   * number.
   */
  String of(List<List<Flight>> legs) {
    StringBuilder out = new StringBuilder(1_200).append("{\"tripFlights\":[");
    for (int i = 0; i < legs.size(); i++) {
      out.append(i == 0 ? "" : ",").append("{\"numPages\":1,\"flightsOptions\":[");
      out.append(String.join(",", texts.of(legs.get(i))));
      out.append("],\"currentPage\":0,\"hasMoreOptions\":false,\"pageSize\":10}");
    }
    return out.append("],\"tripLegs\":").append(legs.size()).append('}').toString();
  }
}
