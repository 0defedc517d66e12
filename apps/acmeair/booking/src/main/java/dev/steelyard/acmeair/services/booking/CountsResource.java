// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.mongo.Collections;
import dev.steelyard.acmeair.mongo.Counts;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** What the service holds. Counts are bare numbers, -1 if nobody can tell. */
@Path("/")
@Produces(MediaType.APPLICATION_JSON)
@Singleton
public final class CountsResource {

  private final Counts counts;

  @Inject
  public CountsResource(Counts counts) {
    this.counts = counts;
  }

  /** How many bookings there are. */
  @GET
  @Path("/config/countBookings")
  public String countBookings() {
    return Long.toString(counts.counted(Collections.BOOKING));
  }
}
