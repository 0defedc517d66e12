// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.web.DatabaseFailureMapper;
import dev.steelyard.acmeair.web.InvalidInputMapper;
import dev.steelyard.acmeair.web.NotLoadedMapper;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;

/** The REST application, under {@code /flight}. */
@ApplicationPath("/flight")
public class FlightApplication extends Application {

  @Override
  public Set<Class<?>> getClasses() {
    return Set.of(
        QueryResource.class,
        AuditResource.class,
        LoaderResource.class,
        ConfigResource.class,
        InvalidInputMapper.class,
        NotLoadedMapper.class,
        DatabaseFailureMapper.class);
  }
}
