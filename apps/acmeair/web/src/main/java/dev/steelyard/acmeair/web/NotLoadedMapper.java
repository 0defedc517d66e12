// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import dev.steelyard.acmeair.NotLoadedException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

/** No data yet: 503 and one line. */
@Provider
public final class NotLoadedMapper implements ExceptionMapper<NotLoadedException> {

  @Override
  public Response toResponse(NotLoadedException failure) {
    return TextAnswer.of(Response.Status.SERVICE_UNAVAILABLE, failure.getMessage());
  }
}
