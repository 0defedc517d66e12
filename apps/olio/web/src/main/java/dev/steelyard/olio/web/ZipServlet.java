// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;

/** City and state of the few zip codes that it knows. */
@WebServlet("/util/zipSearch")
public final class ZipServlet extends Route {

  private static final long serialVersionUID = 1L;
  private static final Map<String, String> PLACES =
      Map.of(
          "10001", "New York,NY",
          "60601", "Chicago,IL",
          "94102", "San Francisco,CA",
          "95054", "Santa Clara,CA",
          "98101", "Seattle,WA");

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String place = PLACES.getOrDefault(Input.text(request, "zip"), ",");
    send(response, "text/plain;charset=UTF-8", place);
  }
}
