// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import dev.steelyard.acmeair.web.RuntimeFacts;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** What runs the service. */
@Path("/")
@Singleton
public final class ConfigResource {

  /** {@code OK}: the service answers. */
  @GET
  @Path("/status")
  @Produces(MediaType.TEXT_PLAIN)
  public String status() {
    return "OK";
  }

  /** Which Java runs the service. */
  @GET
  @Path("/config/runtime")
  @Produces(MediaType.APPLICATION_JSON)
  public String runtime() {
    return RuntimeFacts.json();
  }
}
