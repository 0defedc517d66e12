// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.data.CustomerLoader;
import dev.steelyard.acmeair.web.LoadTime;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Loads customers. */
@Path("/loader")
@Produces(MediaType.TEXT_PLAIN)
@Singleton
public final class LoaderResource {

  private final CustomerLoader loader;
  private final int preset;

  /**
   * @param preset how many customers are loaded where the request does not say: {@code
   *     NUM_CUSTOMERS_TO_LOAD}
   */
  @Inject
  public LoaderResource(
      CustomerLoader loader, @ConfigProperty(name = "num.customers.to.load") int preset) {
    this.loader = loader;
    this.preset = preset;
  }

  /** How many customers are loaded where the request does not say. */
  @GET
  @Path("/query")
  public String query() {
    return Integer.toString(preset);
  }

  /** Replaces all customers. */
  @GET
  @Path("/load")
  public String load(@QueryParam("numCustomers") Long customers) {
    int wanted = customers == null ? preset : CustomerLoader.checked(customers);
    return "Loaded %d customers in %s seconds"
        .formatted(wanted, LoadTime.of(() -> loader.load(wanted, 0, 0)));
  }
}
