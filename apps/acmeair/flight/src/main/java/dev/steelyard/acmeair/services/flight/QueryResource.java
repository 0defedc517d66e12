// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.NotLoadedException;
import dev.steelyard.acmeair.flight.FlightQuery;
import dev.steelyard.acmeair.flight.FlightService;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.OptionalInt;

/** What flies, and how far it is. Nobody has to be logged in. */
@Path("/")
@Consumes(MediaType.APPLICATION_FORM_URLENCODED)
@Produces(MediaType.APPLICATION_JSON)
@Singleton
public final class QueryResource {

  private final FlightService flights;

  private final QueryReply reply;

  @Inject
  public QueryResource(FlightService flights, AcmeAirSettings settings) {
    this.flights = flights;
    this.reply = new QueryReply(settings);
  }

  /** The flights of one leg or two; 503 without any flights. */
  @POST
  @Path("/queryflights")
  public String query(
      @FormParam("fromAirport") String from,
      @FormParam("toAirport") String to,
      @FormParam("fromDate") String fromDate,
      @FormParam("returnDate") String returnDate,
      @FormParam("oneWay") String oneWay) {
    FlightQuery query = FlightQuery.of(from, to, fromDate, returnDate, oneWay);
    if (!flights.loaded()) {
      throw new NotLoadedException("No flights are loaded: GET /flight/loader/load first.");
    }
    return reply.of(flights.query(query));
  }

  /** {@code {"miles":MILES}}, or <code>{}</code> for a segment that does not exist. */
  @POST
  @Path("/getrewardmiles")
  public String miles(@FormParam("flightSegment") String segment) {
    OptionalInt miles = flights.miles(InvalidInputException.required("flightSegment", segment));
    return miles.isPresent() ? "{\"miles\":" + miles.getAsInt() + "}" : "{}";
  }
}
