// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.web.DatabaseFailureMapper;
import dev.steelyard.acmeair.web.InvalidInputMapper;
import jakarta.annotation.security.DeclareRoles;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;
import org.eclipse.microprofile.auth.LoginConfig;

/** The REST application, under {@code /booking}. */
@ApplicationPath("/booking")
@LoginConfig(authMethod = "MP-JWT")
@DeclareRoles(BookingApplication.USER)
public class BookingApplication extends Application {

  /** The role that every token gives. */
  static final String USER = "user";

  @Override
  public Set<Class<?>> getClasses() {
    return Set.of(
        BookingResource.class,
        RewardsResource.class,
        LoaderResource.class,
        ConfigResource.class,
        InvalidInputMapper.class,
        DatabaseFailureMapper.class);
  }
}
