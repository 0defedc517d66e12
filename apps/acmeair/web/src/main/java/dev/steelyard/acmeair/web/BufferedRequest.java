// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A request whose body is in memory, UTF-8. The server cannot find a form's fields in a body that
 * was read already, so they are found here.
 */
final class BufferedRequest extends HttpServletRequestWrapper {

  private static final String FORM = "application/x-www-form-urlencoded";

  private final byte[] body;
  private final ServletInputStream stream;

  BufferedRequest(HttpServletRequest request, byte[] body) {
    super(request);
    this.body = body;
    this.stream = new BytesStream(body);
  }

  @Override
  public ServletInputStream getInputStream() {
    return stream;
  }

  @Override
  public BufferedReader getReader() {
    return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
  }

  @Override
  public Map<String, String[]> getParameterMap() {
    Map<String, String[]> parameters = new LinkedHashMap<>(super.getParameterMap());
    String type = String.valueOf(getContentType()).toLowerCase(Locale.ROOT);
    if (type.startsWith(FORM)) {
      for (String field : new String(body, StandardCharsets.UTF_8).split("&", -1)) {
        int equals = field.indexOf('=');
        if (equals > 0) {
          parameters.merge(
              decoded(field.substring(0, equals)),
              new String[] {decoded(field.substring(equals + 1))},
              BufferedRequest::joined);
        }
      }
    }
    return Collections.unmodifiableMap(parameters);
  }

  private static String[] joined(String[] before, String[] after) {
    return Stream.concat(Arrays.stream(before), Arrays.stream(after)).toArray(String[]::new);
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return text; // Not encoded as it should be: taken as it is.
    }
  }

  @Override
  public String getParameter(String name) {
    String[] values = getParameterValues(name);
    return values == null ? null : values[0];
  }

  @Override
  public String[] getParameterValues(String name) {
    return getParameterMap().get(name);
  }

  @Override
  public Enumeration<String> getParameterNames() {
    return Collections.enumeration(getParameterMap().keySet());
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
