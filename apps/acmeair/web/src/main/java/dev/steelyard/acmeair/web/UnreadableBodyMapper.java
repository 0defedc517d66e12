// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;
import java.io.IOException;

/** A body in an unknown character set or with a broken encoding: 400 and one line; why is told. */
@Provider
public final class UnreadableBodyMapper implements ExceptionMapper<IOException> {

  private static final FailureLog FAILURES = new FailureLog("A body could not be read");

  @Override
  public Response toResponse(IOException failure) {
    FAILURES.tell(failure);
    return TextAnswer.of(Response.Status.BAD_REQUEST, "The body cannot be read.");
  }
}
