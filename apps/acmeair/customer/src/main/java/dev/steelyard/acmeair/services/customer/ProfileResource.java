// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.NotPermittedException;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.json.CustomerTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.web.Caller;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.SecurityContext;

/** A customer's own profile. Somebody else's is refused with 403. */
@Path("/byid/{custid}")
@Produces(MediaType.TEXT_PLAIN)
@RolesAllowed(CustomerApplication.USER)
@Singleton
public final class ProfileResource {

  private final CustomerService customers;

  @Inject
  public ProfileResource(CustomerService customers) {
    this.customers = customers;
  }

  /** The profile, JSON; 403 also where the token outlived its customer. */
  @GET
  public String profile(@PathParam("custid") String id, @Context SecurityContext caller) {
    return customers
        .profile(Caller.own(id, caller))
        .map(customer -> CustomerTexts.profile(customer, JsonStyle.RELAXED))
        .orElseThrow(NotPermittedException::new);
  }

  /**
   * Stores a profile, whose id says nothing beside the path's, and answers what is stored, JSON;
   * 403 for a wrong password.
   */
  @POST
  @Consumes(MediaType.APPLICATION_JSON)
  public String update(
      @PathParam("custid") String id, @Context SecurityContext caller, String profile) {
    return customers
        .update(CustomerTexts.parse(profile).withId(Caller.own(id, caller)))
        .map(customer -> CustomerTexts.stored(customer, null, JsonStyle.RELAXED))
        .orElseThrow(NotPermittedException::new);
  }
}
