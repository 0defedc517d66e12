// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.NotPermittedException;
import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.json.CustomerTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.web.Caller;
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

/** {@code /rest/api/customer}: what a customer sees and changes of himself. */
@Path("/api/customer")
@Produces(MediaType.TEXT_PLAIN + ";charset=UTF-8")
@SessionRequired
@Singleton
public final class CustomerResource {

  private final CustomerService customers;

  @Inject
  public CustomerResource(CustomerService customers) {
    this.customers = customers;
  }

  /** The customer, JSON; 403 for another than the session's. */
  @GET
  @Path("/byid/{id}")
  public String profile(@PathParam("id") String id, @Context SecurityContext session) {
    return customers
        .profile(Caller.own(id, session))
        .map(customer -> CustomerTexts.profile(customer, JsonStyle.WIDE))
        .orElseThrow(NotPermittedException::new);
  }

  /**
   * Stores a customer and answers with what is stored, JSON. Who it is says the member {@code _id},
   * not the path; 403 for another than the session's and for a wrong password.
   */
  @POST
  @Path("/byid/{id}")
  @Consumes(MediaType.APPLICATION_JSON)
  public String update(String body, @Context SecurityContext session) {
    Customer sent = CustomerTexts.parse(body);
    Caller.own(sent.id(), session);
    return customers
        .update(sent.withoutEmptyLine())
        .map(customer -> CustomerTexts.stored(customer, null, JsonStyle.WIDE))
        .orElseThrow(NotPermittedException::new);
  }
}
