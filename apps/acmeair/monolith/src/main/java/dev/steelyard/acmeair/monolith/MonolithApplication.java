// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.web.DatabaseFailureMapper;
import dev.steelyard.acmeair.web.InvalidInputMapper;
import dev.steelyard.acmeair.web.NotLoadedMapper;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;

/** The REST application: {@code /rest/api} for customers, {@code /rest/info} for operators. */
@ApplicationPath("/rest")
public class MonolithApplication extends Application {

  @Override
  public Set<Class<?>> getClasses() {
    return Set.of(
        LoginResource.class,
        CustomerResource.class,
        FlightsResource.class,
        BookingsResource.class,
        LoaderResource.class,
        ConfigResource.class,
        SessionFilter.class,
        DatabaseFailureMapper.class,
        InvalidInputMapper.class,
        NotLoadedMapper.class);
  }
}
