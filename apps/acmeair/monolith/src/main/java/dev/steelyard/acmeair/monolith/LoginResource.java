// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.session.SessionService;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.CookieParam;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** {@code /rest/api/login}: sessions begin and end. */
@Path("/api/login")
@Produces(MediaType.TEXT_PLAIN + ";charset=UTF-8")
@Singleton
public final class LoginResource {

  private final CustomerService customers;
  private final SessionService sessions;

  @Inject
  public LoginResource(CustomerService customers, SessionService sessions) {
    this.customers = customers;
    this.sessions = sessions;
  }

  /** Opens a session and hands out its cookie; 403 for an unknown user or a wrong password. */
  @POST
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  public Response login(@FormParam("login") String login, @FormParam("password") String password) {
    String customer = InvalidInputException.required("login", login);
    if (!customers.validate(customer, InvalidInputException.required("password", password))) {
      return Response.status(Response.Status.FORBIDDEN).build();
    }
    return Response.ok("logged in")
        // The very text that clients know: a cookie object would add attributes.
        .header(
            HttpHeaders.SET_COOKIE,
            SessionFilter.COOKIE + "=" + sessions.open(customer) + "; Path=/")
        .build();
  }

  /** Ends the session; the cookie stays with the client and is worth nothing any more. */
  @GET
  @Path("/logout")
  @SessionRequired
  public String logout(@CookieParam(SessionFilter.COOKIE) String session) {
    sessions.close(session);
    return "logged out";
  }
}
