// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import jakarta.json.JsonObject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;

/** The flight service, as far as miles need it. */
@Path("/")
@RegisterRestClient(configKey = "flight")
public interface FlightClient {

  /** Answers {@code {"miles":MILES}}, or <code>{}</code> for an unknown segment. */
  @POST
  @Path("/getrewardmiles")
  @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
  @Produces(MediaType.APPLICATION_JSON)
  JsonObject miles(@FormParam("flightSegment") String segment);
}
