// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import dev.steelyard.acmeair.InvalidInputException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** Logins, and the key that checks their tokens. */
@Path("/")
@Singleton
public final class LoginResource {

  private static final String UNAVAILABLE =
      "The customer service does not answer now: try again later.\n";

  private final Validation validation;
  private final Tokens tokens;

  @Inject
  public LoginResource(Validation validation, Tokens tokens) {
    this.validation = validation;
    this.tokens = tokens;
  }

  /**
   * Hands out a token in the cookie {@code Bearer} and the login in the cookie {@code
   * loggedinuser}; 403 for an unknown user or a wrong password, 503 if nobody can tell.
   */
  @POST
  @Path("/login")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  @Produces(MediaType.TEXT_PLAIN)
  public Response login(@FormParam("login") String login, @FormParam("password") String password) {
    String customer = InvalidInputException.required("login", login);
    return switch (validation.verdict(
        customer, InvalidInputException.required("password", password))) {
      case VALID ->
          Response.ok("logged in")
              // The very text that clients know: cookie objects would add attributes.
              .header(HttpHeaders.SET_COOKIE, "Bearer=" + tokens.issue(customer) + "; Path=/")
              .header(HttpHeaders.SET_COOKIE, "loggedinuser=" + customer + "; Path=/")
              .build();
      case INVALID -> Response.status(Response.Status.FORBIDDEN).build();
      case UNKNOWN ->
          Response.status(Response.Status.SERVICE_UNAVAILABLE).entity(UNAVAILABLE).build();
    };
  }

  /** The public key of the tokens, as a JSON Web Key. */
  @GET
  @Path("/getJwk")
  @Produces(MediaType.APPLICATION_JSON)
  public String key() {
    return tokens.publicKey();
  }
}
