// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.customer.CustomerService;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** What other services call. As in the original, nobody is asked who calls. */
@Path("/internal")
@Consumes(MediaType.APPLICATION_FORM_URLENCODED)
@Produces(MediaType.APPLICATION_JSON)
@Singleton
public final class InternalResource {

  private final CustomerService customers;

  @Inject
  public InternalResource(CustomerService customers) {
    this.customers = customers;
  }

  /** {@code {"validated":true}} if this is a customer's password, else false. */
  @POST
  @Path("/validateid")
  public JsonObject validate(
      @FormParam("login") String login, @FormParam("password") String password) {
    boolean valid =
        customers.loaded()
            && customers.validate(
                InvalidInputException.required("login", login),
                InvalidInputException.required("password", password));
    return Json.createObjectBuilder().add("validated", valid).build();
  }

  /** Adds miles, negative ones too, and answers {@code {"miles":TOTAL}}; 404 without a customer. */
  @POST
  @Path("/updateCustomerTotalMiles/{custid}")
  public JsonObject addMiles(@PathParam("custid") String id, @FormParam("miles") String miles) {
    int total = customers.addMiles(id, number(miles)).orElseThrow(NotFoundException::new);
    return Json.createObjectBuilder().add("miles", total).build();
  }

  private static int number(String miles) {
    try {
      return Integer.parseInt(InvalidInputException.required("miles", miles));
    } catch (NumberFormatException e) {
      throw new InvalidInputException("The field 'miles' is no whole number that fits.");
    }
  }
}
