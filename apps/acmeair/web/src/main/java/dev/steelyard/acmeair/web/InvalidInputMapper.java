// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import dev.steelyard.acmeair.InvalidInputException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;

/** A request that cannot be understood: 400 and one line. */
@Provider
public final class InvalidInputMapper implements ExceptionMapper<InvalidInputException> {

  @Override
  public Response toResponse(InvalidInputException failure) {
    return TextAnswer.of(Response.Status.BAD_REQUEST, failure.getMessage());
  }
}
