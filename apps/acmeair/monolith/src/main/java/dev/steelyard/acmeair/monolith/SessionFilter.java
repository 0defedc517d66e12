// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.session.SessionService;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.Cookie;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.SecurityContext;
import jakarta.ws.rs.ext.Provider;
import java.security.Principal;
import java.util.Optional;

/**
 * Lets through who has a session, which costs one read of the database, and makes its customer the
 * principal of the request.
 */
@Provider
@Singleton
@SessionRequired
public final class SessionFilter implements ContainerRequestFilter {

  /** The name of the cookie that holds the id of the session. */
  static final String COOKIE = "acmeair_sessionid";

  // Not by the constructor: the server makes its filters with one that has no parameters.
  @Inject SessionService sessions;

  @Override
  public void filter(ContainerRequestContext request) {
    Cookie cookie = request.getCookies().get(COOKIE);
    Optional<String> customer =
        cookie == null || cookie.getValue() == null || cookie.getValue().isEmpty()
            ? Optional.empty()
            : sessions.customerOf(cookie.getValue());
    customer.ifPresentOrElse(
        id -> request.setSecurityContext(new CustomerContext(id, request.getSecurityContext())),
        () -> request.abortWith(Response.status(Response.Status.FORBIDDEN).build()));
  }

  private record CustomerContext(String customer, SecurityContext outer)
      implements SecurityContext {

    @Override
    public Principal getUserPrincipal() {
      return () -> customer;
    }

    @Override
    public boolean isUserInRole(String role) {
      return false;
    }

    @Override
    public boolean isSecure() {
      return outer.isSecure();
    }

    @Override
    public String getAuthenticationScheme() {
      return COOKIE;
    }
  }
}
