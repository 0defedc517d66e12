// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.json.DateTexts;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.util.List;
import org.bson.Document;

/** Sets flights and the reply to a query. */
final class FlightTexts {

  private static final int PAGE_SIZE = 10;

  private final Dialect dialect;
  private final DateTexts dates;

  FlightTexts(Dialect dialect, DateTexts dates) {
    this.dialect = dialect;
    this.dates = dates;
  }

  /** A flight as stored, with its segment inside. */
  String option(Document flight, Segment segment) {
    Document option = new Document(flight).append("flightSegment", nested(segment));
    return dialect.style().print(option, dates::format);
  }

  private Document nested(Segment segment) {
    if (dialect.extendedMiles()) {
      return new Document("destPort", segment.to())
          .append("originPort", segment.from())
          .append("_id", segment.id())
          .append("miles", new Document("$numberLong", Integer.toString(segment.miles())));
    }
    return new Document("_id", segment.id())
        .append("originPort", segment.from())
        .append("destPort", segment.to())
        .append("miles", segment.miles());
  }

  /**
   * The reply.
   *
   * @param legs the options of each leg
   */
  String reply(List<List<String>> legs) {
    return dialect.parsesFlights() ? serialised(legs) : joined(legs);
  }

  private static String joined(List<List<String>> legs) {
    StringBuilder out = new StringBuilder(1_200).append("{\"tripFlights\":[");
    for (int i = 0; i < legs.size(); i++) {
      out.append(i == 0 ? "" : ",").append("{\"numPages\":1,\"flightsOptions\":[");
      out.append(String.join(",", legs.get(i)));
      out.append("],\"currentPage\":0,\"hasMoreOptions\":false,\"pageSize\":")
          .append(PAGE_SIZE)
          .append('}');
    }
    return out.append("],\"tripLegs\":").append(legs.size()).append('}').toString();
  }

  private static String serialised(List<List<String>> legs) {
    JsonArrayBuilder trip = Json.createArrayBuilder();
    for (List<String> options : legs) {
      JsonArrayBuilder parsed = Json.createArrayBuilder();
      for (String option : options) {
        try (JsonReader reader = Json.createReader(new StringReader(option))) {
          parsed.add(reader.readObject());
        }
      }
      trip.add(
          Json.createObjectBuilder()
              .add("numPages", 1)
              .add("flightsOptions", parsed)
              .add("currentPage", 0)
              .add("hasMoreOptions", false)
              .add("pageSize", PAGE_SIZE));
    }
    return Json.createObjectBuilder()
        .add("tripFlights", trip)
        .add("tripLegs", legs.size())
        .build()
        .toString();
  }
}
