// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import jakarta.json.JsonObject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;

/** The customer service, as far as logins need it. */
@Path("/internal")
@RegisterRestClient(configKey = "customer")
public interface CustomerClient {

  /** Answers {@code {"validated":true}} or {@code {"validated":false}}. */
  @POST
  @Path("/validateid")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  @Produces(MediaType.APPLICATION_JSON)
  JsonObject validate(@FormParam("login") String login, @FormParam("password") String password);
}
