// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import jakarta.json.JsonObject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;

/** The customer service, as far as miles need it. */
@Path("/internal")
@RegisterRestClient(configKey = "customer")
public interface CustomerClient {

  /** Adds miles, negative ones too; answers {@code {"miles":TOTAL}}. */
  @POST
  @Path("/updateCustomerTotalMiles/{custid}")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  @Produces(MediaType.APPLICATION_JSON)
  JsonObject addMiles(@PathParam("custid") String customer, @FormParam("miles") int miles);
}
