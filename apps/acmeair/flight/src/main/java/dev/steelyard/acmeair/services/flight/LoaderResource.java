// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.data.FlightLoader;
import dev.steelyard.acmeair.flight.FlightService;
import dev.steelyard.acmeair.web.LoadTime;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Loads airports, segments and flights. */
@Path("/loader")
@Produces(MediaType.TEXT_PLAIN)
@Singleton
public final class LoaderResource {

  private final FlightLoader loader;
  private final FlightService flights;
  private final int preset;

  /**
   * @param flights whose caches a load empties
   * @param preset for how many days flights are loaded where the request does not say: {@code
   *     NUM_DAYS_TO_LOAD}
   */
  @Inject
  public LoaderResource(
      FlightLoader loader,
      FlightService flights,
      @ConfigProperty(name = "num.days.to.load") int preset) {
    this.loader = loader;
    this.flights = flights;
    this.preset = preset;
  }

  /** For how many days flights are loaded where the request does not say. */
  @GET
  @Path("/query")
  public String query() {
    return Integer.toString(preset);
  }

  /** Replaces all airports, segments and flights. */
  @GET
  @Path("/load")
  public String load(@QueryParam("daysToLoad") Long days) {
    int wanted = days == null ? preset : FlightLoader.checked(days);
    String seconds = LoadTime.of(() -> replace(wanted));
    return "Loaded flights for %d days in %s seconds".formatted(wanted, seconds);
  }

  private synchronized void replace(int days) {
    loader.load(days);
    flights.forget();
  }
}
