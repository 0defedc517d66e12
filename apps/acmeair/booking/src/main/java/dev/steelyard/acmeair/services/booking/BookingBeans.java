// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.ServerContext;
import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.data.BookingLoader;
import dev.steelyard.acmeair.data.Counts;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Makes the parts of the domain that the resources use, one of each. */
@Singleton
public class BookingBeans {

  /** Opened as the application starts, whether or not the database answers yet. */
  void start(@Observes @Initialized(ApplicationScoped.class) Object event, ServerContext context) {
    // That it is injected is what opens it.
  }

  @Produces
  @Singleton
  ServerContext context() {
    return ServerContext.ofProcess(Dialect.MICROSERVICES, "acmeair_bookingdb");
  }

  void close(@Disposes ServerContext context) {
    context.close();
  }

  @Produces
  @Singleton
  BookingService bookings(ServerContext context) {
    return new BookingService(
        context.database(), context.dialect(), context.dates(), context.clock());
  }

  @Produces
  @Singleton
  BookingLoader loader(ServerContext context) {
    return new BookingLoader(context.database(), context.settings());
  }

  @Produces
  @Singleton
  Counts counts(ServerContext context) {
    return new Counts(context.database(), context.dialect());
  }

  @Produces
  @Singleton
  RewardCounters counters() {
    return new RewardCounters();
  }
}
