// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.ping;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;

/** The REST application, at the root of the context. */
@ApplicationPath("/")
public class PingApplication extends Application {

  @Override
  public Set<Class<?>> getClasses() {
    return Set.of(PingResource.class);
  }
}
