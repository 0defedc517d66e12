// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.ServerContext;
import dev.steelyard.acmeair.data.Counts;
import dev.steelyard.acmeair.data.FlightLoader;
import dev.steelyard.acmeair.flight.FlightService;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Makes the parts of the domain that the resources use, one of each. */
@Singleton
public class FlightBeans {

  /** Opened as the application starts, whether or not the database answers yet. */
  void start(@Observes @Initialized(ApplicationScoped.class) Object event, ServerContext context) {
    // That it is injected is what opens it.
  }

  @Produces
  @Singleton
  ServerContext context() {
    return ServerContext.ofProcess(Dialect.MICROSERVICES, "acmeair_flightdb");
  }

  void close(@Disposes ServerContext context) {
    context.close();
  }

  @Produces
  @Singleton
  FlightService flights(ServerContext context) {
    return new FlightService(
        context.database(),
        context.dialect(),
        context.settings().zone(),
        context.settings().caching());
  }

  @Produces
  @Singleton
  FlightLoader loader(ServerContext context) {
    return new FlightLoader(context.database(), context.settings(), context.clock());
  }

  @Produces
  @Singleton
  Counts counts(ServerContext context) {
    return new Counts(context.database(), context.dialect());
  }
}
