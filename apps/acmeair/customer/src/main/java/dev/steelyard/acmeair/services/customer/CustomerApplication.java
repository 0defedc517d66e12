// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.mongo.Mappers;
import dev.steelyard.acmeair.mongo.ServerContext;
import dev.steelyard.acmeair.web.StatusResource;
import jakarta.annotation.security.DeclareRoles;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Named;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.HashSet;
import java.util.Set;
import org.eclipse.microprofile.auth.LoginConfig;

/** The REST application, under {@code /customer}. */
@ApplicationPath("/customer")
@LoginConfig(authMethod = "MP-JWT")
@DeclareRoles(CustomerApplication.USER)
public class CustomerApplication extends Application {

  /** The name of the database, unless a variable gives one. */
  @Produces
  @Named(ServerContext.DATABASE)
  static final String DATABASE = "acmeair_customerdb";

  /** The role that every token gives. */
  static final String USER = "user";

  @Override
  public Set<Class<?>> getClasses() {
    Set<Class<?>> classes = new HashSet<>(Mappers.ALL);
    classes.addAll(
        Set.of(
            ProfileResource.class,
            InternalResource.class,
            LoaderResource.class,
            CountsResource.class,
            StatusResource.class));
    return classes;
  }
}
