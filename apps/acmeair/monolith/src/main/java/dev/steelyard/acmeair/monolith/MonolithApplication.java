// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.mongo.Mappers;
import dev.steelyard.acmeair.mongo.ServerContext;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Named;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.HashSet;
import java.util.Set;

/** The REST application: {@code /rest/api} for customers, {@code /rest/info} for operators. */
@ApplicationPath("/rest")
public class MonolithApplication extends Application {

  /** The name of the database, unless a variable gives one. */
  @Produces
  @Named(ServerContext.DATABASE)
  static final String DATABASE = "acmeair";

  @Override
  public Set<Class<?>> getClasses() {
    Set<Class<?>> classes =
        new HashSet<>(
            Set.of(
                LoginResource.class,
                CustomerResource.class,
                FlightsResource.class,
                BookingsResource.class,
                LoaderResource.class,
                ConfigResource.class,
                SessionFilter.class));
    classes.addAll(Mappers.ALL);
    return classes;
  }
}
