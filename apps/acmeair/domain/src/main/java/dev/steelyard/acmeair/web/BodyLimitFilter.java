// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Refuses bodies of more than 64 KiB with 413. No request of a driver has more than 300 bytes. A
 * body that does not tell its length is read up to the limit before it is handed on.
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
        chain.doFilter(new Buffered(request, body), response);
      }
    }
  }

  private static void refuse(HttpServletResponse response) throws IOException {
    response.setStatus(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE);
    response.setContentType("text/plain;charset=UTF-8");
    response.getWriter().print("The body is larger than " + MOST_BYTES + " bytes.\n");
  }

  /** A request whose body is in memory. */
  private static final class Buffered extends HttpServletRequestWrapper {

    private final ServletInputStream stream;

    Buffered(HttpServletRequest request, byte[] body) {
      super(request);
      stream = new BytesStream(body);
    }

    @Override
    public ServletInputStream getInputStream() {
      return stream;
    }

    @Override
    public BufferedReader getReader() {
      return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
    }
  }

  private static final class BytesStream extends ServletInputStream {

    private final ByteArrayInputStream bytes;

    BytesStream(byte[] body) {
      bytes = new ByteArrayInputStream(body);
    }

    @Override
    public int read() {
      return bytes.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      return bytes.read(target, offset, length);
    }

    @Override
    public boolean isFinished() {
      return bytes.available() == 0;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
      throw new IllegalStateException("This body is read at once, not when it comes.");
    }
  }
}
