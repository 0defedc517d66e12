// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import dev.steelyard.acmeair.web.InvalidInputMapper;
import dev.steelyard.acmeair.web.UnreadableBodyMapper;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;

/** The REST application, under {@code /auth}. */
@ApplicationPath("/auth")
public class AuthApplication extends Application {

  @Override
  public Set<Class<?>> getClasses() {
    return Set.of(
        LoginResource.class,
        ConfigResource.class,
        InvalidInputMapper.class,
        UnreadableBodyMapper.class);
  }
}
