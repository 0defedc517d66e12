// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.ping;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** {@code GET /ping}. */
@Path("/ping")
public class PingResource {

  /** The fixed answer. */
  @GET
  @Produces(MediaType.TEXT_PLAIN)
  public String ping() {
    return "pong\n";
  }
}
