// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Refuses bodies of more than 64 KiB with 413. No request of a driver has more than 300 bytes. A
 * body that comes in chunks, and so does not tell its length, is read before it is handed on.
 */
@WebFilter(value = "/*", asyncSupported = true)
public final class BodyLimitFilter extends HttpFilter {

  /** The most bytes that a body may have. */
  public static final int MOST_BYTES = 64 * 1024;

  private static final long serialVersionUID = 1L;

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (request.getContentLengthLong() > MOST_BYTES) {
      refuse(response);
    } else if (request.getHeader("Transfer-Encoding") == null) {
      chain.doFilter(request, response);
    } else {
      byte[] body = request.getInputStream().readNBytes(MOST_BYTES + 1);
      if (body.length > MOST_BYTES) {
        refuse(response);
      } else {
        chain.doFilter(new BufferedRequest(request, body), response);
      }
    }
  }

  private static void refuse(HttpServletResponse response) throws IOException {
    response.setStatus(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE);
    response.setContentType("text/plain;charset=UTF-8");
    response.getWriter().print("The body is larger than " + MOST_BYTES + " bytes.\n");
  }
}
