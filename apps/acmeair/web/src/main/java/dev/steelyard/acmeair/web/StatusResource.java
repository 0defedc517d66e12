// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** What every service with a database says of itself, whatever that database does. */
@Path("/")
public final class StatusResource {

  /** {@code OK}: the service answers. */
  @GET
  @Path("/status")
  @Produces(MediaType.APPLICATION_OCTET_STREAM)
  public String status() {
    return "OK";
  }

  /** The kind of the database. Not quoted, and so no JSON: clients read a text. */
  @GET
  @Path("/config/activeDataService")
  @Produces(MediaType.APPLICATION_JSON)
  public String activeDataService() {
    return "mongo";
  }

  /** Which Java runs the service. */
  @GET
  @Path("/config/runtime")
  @Produces(MediaType.APPLICATION_JSON)
  public String runtime() {
    return RuntimeFacts.json();
  }
}
