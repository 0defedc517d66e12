// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** Answers that are a line of text. */
public final class TextAnswer {

  private static final MediaType TEXT = MediaType.TEXT_PLAIN_TYPE.withCharset("UTF-8");

  private TextAnswer() {}

  /** This line, with a line break after it. */
  public static Response of(Response.Status status, String line) {
    return Response.status(status).type(TEXT).entity(line + "\n").build();
  }
}
