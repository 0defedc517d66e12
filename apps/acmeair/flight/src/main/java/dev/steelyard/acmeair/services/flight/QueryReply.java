// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.flight.Flight;
import dev.steelyard.acmeair.flight.Segment;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.json.FlightTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sets the reply to a query. As in the original's service, the texts of flights are parsed and the
 * reply is serialised for each query.
 */
final class QueryReply {

  private final FlightTexts texts;

  QueryReply(AcmeAirSettings settings) {
    this.texts =
        new FlightTexts(
            JsonStyle.RELAXED,
            new DateTexts(settings.zone()),
            QueryReply::nested,
            settings.caching());
  }

  private static Map<String, Object> nested(Segment segment) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("_id", segment.id());
    members.put("originPort", segment.from());
    members.put("destPort", segment.to());
    members.put("miles", segment.miles());
    return members;
  }

  /**
   * The reply, JSON: {@code tripFlights}, an array of one or two legs, and {@code tripLegs}, their
   * number.
   */
  String of(List<List<Flight>> legs) {
    JsonArrayBuilder trip = Json.createArrayBuilder();
    for (List<Flight> flights : legs) {
      JsonArrayBuilder options = Json.createArrayBuilder();
      for (String option : texts.of(flights)) {
        try (JsonReader reader = Json.createReader(new StringReader(option))) {
          options.add(reader.readObject());
        }
      }
      trip.add(
          Json.createObjectBuilder()
              .add("numPages", 1)
              .add("flightsOptions", options)
              .add("currentPage", 0)
              .add("hasMoreOptions", false)
              .add("pageSize", 10));
    }
    return Json.createObjectBuilder()
        .add("tripFlights", trip)
        .add("tripLegs", legs.size())
        .build()
        .toString();
  }
}
