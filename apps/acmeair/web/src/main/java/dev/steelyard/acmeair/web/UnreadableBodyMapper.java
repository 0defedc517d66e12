// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;
import java.io.CharConversionException;
import java.io.EOFException;
import java.io.IOException;
import java.io.UnsupportedEncodingException;
import java.nio.charset.CharacterCodingException;
import java.util.zip.ZipException;

/**
 * A body in an unknown character set, with a broken encoding or not compressed as it says: 400 and
 * one line. Whatever else cannot be read or written is no mistake of the client's: 500, an error,
 * and its cause is told.
 */
@Provider
public final class UnreadableBodyMapper implements ExceptionMapper<IOException> {

  private static final FailureLog FAILURES = new FailureLog("A request broke off");

  @Override
  public Response toResponse(IOException failure) {
    if (failure instanceof UnsupportedEncodingException
        || failure instanceof CharacterCodingException
        || failure instanceof CharConversionException
        || failure instanceof ZipException
        || failure instanceof EOFException) {
      return TextAnswer.of(Response.Status.BAD_REQUEST, "The body cannot be read.");
    }
    FAILURES.tell(failure);
    return TextAnswer.of(Response.Status.INTERNAL_SERVER_ERROR, "The request broke off.");
  }
}
