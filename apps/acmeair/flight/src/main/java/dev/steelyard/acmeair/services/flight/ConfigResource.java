// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.data.Collections;
import dev.steelyard.acmeair.data.Counts;
import dev.steelyard.acmeair.web.RuntimeFacts;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** What the service holds and what runs it. */
@Path("/")
@Singleton
public final class ConfigResource {

  private final Counts counts;

  @Inject
  public ConfigResource(Counts counts) {
    this.counts = counts;
  }

  /** {@code OK}: the service answers, whatever its database does. */
  @GET
  @Path("/status")
  @Produces(MediaType.APPLICATION_OCTET_STREAM)
  public String status() {
    return "OK";
  }

  /** How many airports there are, -1 if nobody can tell. */
  @GET
  @Path("/config/countAirports")
  @Produces(MediaType.APPLICATION_JSON)
  public String countAirports() {
    return Long.toString(counts.orUnknown(Collections.AIRPORT));
  }

  /** How many segments there are, -1 if nobody can tell. */
  @GET
  @Path("/config/countFlightSegments")
  @Produces(MediaType.APPLICATION_JSON)
  public String countFlightSegments() {
    return Long.toString(counts.orUnknown(Collections.SEGMENT));
  }

  /** How many flights there are, -1 if nobody can tell. */
  @GET
  @Path("/config/countFlights")
  @Produces(MediaType.APPLICATION_JSON)
  public String countFlights() {
    return Long.toString(counts.orUnknown(Collections.FLIGHT));
  }

  /** The kind of the database. */
  @GET
  @Path("/config/activeDataService")
  @Produces(MediaType.APPLICATION_JSON)
  public String activeDataService() {
    return "mongo";
  }

  /** Which Java runs the service. */
  @GET
  @Path("/config/runtime")
  @Produces(MediaType.APPLICATION_JSON)
  public String runtime() {
    return RuntimeFacts.json();
  }
}
