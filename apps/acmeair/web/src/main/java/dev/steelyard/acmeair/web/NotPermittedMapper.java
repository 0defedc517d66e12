// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import dev.steelyard.acmeair.NotPermittedException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

/** What somebody may not do: 403 without a body. */
@Provider
public final class NotPermittedMapper implements ExceptionMapper<NotPermittedException> {

  @Override
  public Response toResponse(NotPermittedException failure) {
    return Response.status(Response.Status.FORBIDDEN).build();
  }
}
