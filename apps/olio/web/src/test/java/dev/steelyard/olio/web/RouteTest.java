// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import jakarta.json.Json;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class RouteTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /**
   * Liberty states as many bytes as there are letters where its own writer is closed, so that an
   * answer is given as bytes.
   */
  @Test
  void isWholeWhateverItsLetters() throws IOException {
    Route.send(response(), Json.createObjectBuilder().add("name", "Zoë Łuczak 李").build());
    assertEquals("{\"name\":\"Zoë Łuczak 李\"}", bytes.toString(StandardCharsets.UTF_8));
  }

  private HttpServletResponse response() {
    return (HttpServletResponse)
        Proxy.newProxyInstance(
            HttpServletResponse.class.getClassLoader(),
            new Class<?>[] {HttpServletResponse.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "setContentType", "setCharacterEncoding", "setHeader" -> null;
                  case "getOutputStream" -> output();
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private ServletOutputStream output() {
    return new ServletOutputStream() {
      @Override
      public boolean isReady() {
        return true;
      }

      @Override
      public void setWriteListener(WriteListener listener) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void write(int one) {
        bytes.write(one);
      }
    };
  }
}
