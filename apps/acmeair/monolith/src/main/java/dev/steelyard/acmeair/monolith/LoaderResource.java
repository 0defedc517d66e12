// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.data.CustomerLoader;
import dev.steelyard.acmeair.web.LoadTime;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;

/** {@code /rest/info/loader}: fills the database. */
@Path("/info/loader")
@Produces(MediaType.TEXT_PLAIN + ";charset=UTF-8")
@Singleton
public final class LoaderResource {

  private final MonolithLoader loader;

  @Inject
  public LoaderResource(MonolithLoader loader) {
    this.loader = loader;
  }

  /** The number of customers that the last load made. */
  @GET
  @Path("/query")
  public String query() {
    return Integer.toString(loader.customers());
  }

  /**
   * Replaces all data.
   *
   * @param asked how many customers; without it or with -1 as many as {@link #query} tells
   */
  @GET
  @Path("/load")
  public String load(@QueryParam("numCustomers") @DefaultValue("-1") long asked) {
    int customers = asked == -1 ? loader.customers() : CustomerLoader.checked(asked);
    String seconds = LoadTime.of(() -> loader.load(customers));
    return "Loaded flights and %d customers in %s seconds".formatted(customers, seconds);
  }
}
