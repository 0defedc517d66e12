// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

final class UnchangedFilterTest {

  @Test
  void pathOfFileIsTheSameHoweverTheServerDividesIt() {
    assertEquals("/css/style.css", UnchangedFilter.path(request("", "/css/style.css")));
    assertEquals("/css/style.css", UnchangedFilter.path(request("/css/style.css", null)));
  }

  private static HttpServletRequest request(String servletPath, String pathInfo) {
    return (HttpServletRequest)
        Proxy.newProxyInstance(
            HttpServletRequest.class.getClassLoader(),
            new Class<?>[] {HttpServletRequest.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getServletPath" -> servletPath;
                  case "getPathInfo" -> pathInfo;
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
