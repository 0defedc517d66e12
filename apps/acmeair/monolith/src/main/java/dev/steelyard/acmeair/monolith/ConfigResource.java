// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.mongo.Collections;
import dev.steelyard.acmeair.mongo.Counts;
import dev.steelyard.acmeair.web.RuntimeFacts;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** {@code /rest/info/config}: what is there. Counts are bare numbers, -1 if nobody can tell. */
@Path("/info/config")
@Produces(MediaType.APPLICATION_JSON)
@Singleton
public final class ConfigResource {

  private final Counts counts;

  @Inject
  public ConfigResource(Counts counts) {
    this.counts = counts;
  }

  /** Documents in {@code booking}. */
  @GET
  @Path("/countBookings")
  public String bookings() {
    return count(Collections.BOOKING);
  }

  /** Documents in {@code customer}. */
  @GET
  @Path("/countCustomers")
  public String customers() {
    return count(Collections.CUSTOMER);
  }

  /** Documents in {@code customerSession}. */
  @GET
  @Path("/countSessions")
  public String sessions() {
    return count(Collections.SESSION);
  }

  /** Documents in {@code flight}. */
  @GET
  @Path("/countFlights")
  public String flights() {
    return count(Collections.FLIGHT);
  }

  /** Documents in {@code flightSegment}. */
  @GET
  @Path("/countFlightSegments")
  public String segments() {
    return count(Collections.SEGMENT);
  }

  /** Documents in {@code airportCodeMapping}. */
  @GET
  @Path("/countAirports")
  public String airports() {
    return count(Collections.AIRPORT);
  }

  /** The kind of database. Not quoted, and so no JSON: clients read a text. */
  @GET
  @Path("/activeDataService")
  public String dataService() {
    return "mongo";
  }

  /** What runs the application. */
  @GET
  @Path("/runtime")
  public String runtime() {
    return RuntimeFacts.json();
  }

  private String count(String collection) {
    return Long.toString(counts.known(collection));
  }
}
