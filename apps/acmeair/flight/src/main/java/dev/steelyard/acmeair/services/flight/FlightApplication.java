// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.web.Mappers;
import dev.steelyard.acmeair.web.StatusResource;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.HashSet;
import java.util.Set;

/** The REST application, under {@code /flight}. */
@ApplicationPath("/flight")
public class FlightApplication extends Application {

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
