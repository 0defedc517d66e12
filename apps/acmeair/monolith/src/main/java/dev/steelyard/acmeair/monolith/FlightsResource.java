// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

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

/** {@code /rest/api/flights}: for everybody, without a session. */
@Path("/api/flights")
@Produces(MediaType.TEXT_PLAIN + ";charset=UTF-8")
@Singleton
public final class FlightsResource {

  private final FlightService flights;

  private final QueryReply reply;

  @Inject
  public FlightsResource(FlightService flights, AcmeAirSettings settings) {
    this.flights = flights;
    this.reply = new QueryReply(settings);
  }

  /** The flights of both directions, or of the way out if {@code oneWay} is true; JSON. */
  @POST
  @Path("/queryflights")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  public String query(
      @FormParam("fromAirport") String from,
      @FormParam("toAirport") String to,
      @FormParam("fromDate") String departure,
      @FormParam("returnDate") String back,
      @FormParam("oneWay") String oneWay) {
    return reply.of(flights.query(FlightQuery.of(from, to, departure, back, oneWay)));
  }
}
