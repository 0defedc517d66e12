// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.data.BookingLoader;
import dev.steelyard.acmeair.web.LoadTime;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** Empties the bookings. */
@Path("/loader")
@Produces(MediaType.TEXT_PLAIN)
@Singleton
public final class LoaderResource {

  private final BookingLoader loader;

  @Inject
  public LoaderResource(BookingLoader loader) {
    this.loader = loader;
  }

  /** Removes all bookings. */
  @GET
  @Path("/load")
  public String load() {
    return "Cleared bookings in %s seconds".formatted(LoadTime.of(loader::clear));
  }
}
