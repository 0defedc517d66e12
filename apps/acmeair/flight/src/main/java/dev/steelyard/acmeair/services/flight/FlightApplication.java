// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.mongo.Mappers;
import dev.steelyard.acmeair.mongo.ServerContext;
import dev.steelyard.acmeair.web.StatusResource;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Named;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.HashSet;
import java.util.Set;

/** The REST application, under {@code /flight}. */
@ApplicationPath("/flight")
public class FlightApplication extends Application {

  /** The name of the database, unless a variable gives one. */
  @Produces
  @Named(ServerContext.DATABASE)
  static final String DATABASE = "acmeair_flightdb";

  @Override
  public Set<Class<?>> getClasses() {
    Set<Class<?>> classes = new HashSet<>(Mappers.ALL);
    classes.addAll(
        Set.of(
            QueryResource.class,
            AuditResource.class,
            LoaderResource.class,
            CountsResource.class,
            StatusResource.class));
    return classes;
  }
}
