// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.ServerContext;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.data.Counts;
import dev.steelyard.acmeair.data.CustomerLoader;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Makes the parts of the domain that the resources use, one of each. */
@Singleton
public class CustomerBeans {

  /** Opened as the application starts, whether or not the database answers yet. */
  void start(@Observes @Initialized(ApplicationScoped.class) Object event, ServerContext context) {
    // That it is injected is what opens it.
  }

  @Produces
  @Singleton
  ServerContext context() {
    return ServerContext.ofProcess(Dialect.MICROSERVICES, "acmeair_customerdb");
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
  CustomerLoader loader(ServerContext context) {
    return new CustomerLoader(context.database(), context.dialect());
  }

  @Produces
  @Singleton
  Counts counts(ServerContext context) {
    return new Counts(context.database(), context.dialect());
  }
}
