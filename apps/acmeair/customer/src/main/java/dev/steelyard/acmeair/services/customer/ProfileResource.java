// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.NotPermittedException;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.customer.CustomerUpdate;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.jwt.JsonWebToken;

/** A customer's own profile. Somebody else's is refused with 403. */
@Path("/byid/{custid}")
@Produces(MediaType.TEXT_PLAIN)
@RolesAllowed(CustomerApplication.USER)
@Singleton
public final class ProfileResource {

  private final CustomerService customers;
  private final JsonWebToken token;

  /**
   * @param token of the request that is being served
   */
  @Inject
  public ProfileResource(CustomerService customers, JsonWebToken token) {
    this.customers = customers;
    this.token = token;
  }

  /** The profile, JSON; 403 also where the token outlived its customer. */
  @GET
  public String profile(@PathParam("custid") String id) {
    mustBeOwn(id);
    return customers.profile(id).orElseThrow(NotPermittedException::new);
  }

  /** Stores a profile and answers what is stored, JSON; 403 for a wrong password. */
  @POST
  @Consumes(MediaType.APPLICATION_JSON)
  public String update(@PathParam("custid") String id, String profile) {
    mustBeOwn(id);
    return customers
        .update(id, CustomerUpdate.parse(profile))
        .orElseThrow(NotPermittedException::new);
  }

  private void mustBeOwn(String id) {
    if (!id.equals(token.getSubject())) {
      throw new NotPermittedException();
    }
  }
}
