// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.ServerContext;
import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.data.Counts;
import dev.steelyard.acmeair.flight.FlightService;
import dev.steelyard.acmeair.session.SessionService;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Makes the parts of the domain that the resources use, one of each. */
@Singleton
public class MonolithBeans {

  /** Opened as the application starts, whether or not the database answers yet. */
  void start(@Observes @Initialized(ApplicationScoped.class) Object event, ServerContext context) {
    // That it is injected is what opens it.
  }

  @Produces
  @Singleton
  ServerContext context() {
    return ServerContext.ofProcess(Dialect.MONOLITH, "acmeair");
  }

  void close(@Disposes ServerContext context) {
    context.close();
  }

  @Produces
  @Singleton
  CustomerService customers(ServerContext context) {
    return new CustomerService(context.database(), context.dialect());
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
  BookingService bookings(ServerContext context) {
    return new BookingService(
        context.database(), context.dialect(), context.dates(), context.clock());
  }

  @Produces
  @Singleton
  SessionService sessions(ServerContext context) {
    return new SessionService(context.database(), context.clock());
  }

  @Produces
  @Singleton
  Counts counts(ServerContext context) {
    return new Counts(context.database(), context.dialect());
  }

  @Produces
  @Singleton
  MonolithLoader loader(ServerContext context, SessionService sessions, FlightService flights) {
    return new MonolithLoader(context, sessions, flights);
  }
}
