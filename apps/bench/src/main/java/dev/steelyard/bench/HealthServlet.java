// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Objects;

/**
 * {@code /health/live}, {@code /health/ready}, {@code /health/started} and {@code /health}, which
 * is all at once, in the shape of MicroProfile Health: status 200 and {@code UP}, or 503 and {@code
 * DOWN}. There is no health of an application that lacks servlets: its server ends.
 */
final class HealthServlet extends HttpServlet {

  private static final long serialVersionUID = 1L;

  private final transient Workload workload;

  HealthServlet(Workload workload) {
    this.workload = workload;
  }

  @Override
  public void init() {
    RequiredServlets.endUnlessComplete(workload.servlets(), getServletContext());
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    switch (Objects.requireNonNullElse(request.getPathInfo(), "")) {
      case "/live" -> answer(response, true);
      case "/ready" -> answer(response, workload.ready());
      case "/started" -> answer(response, workload.started());
      case "" -> answer(response, workload.ready() && workload.started());
      default -> response.sendError(HttpServletResponse.SC_NOT_FOUND);
    }
  }

  private static void answer(HttpServletResponse response, boolean up) throws IOException {
    JsonObject body =
        Json.createObjectBuilder()
            .add("status", up ? "UP" : "DOWN")
            .add("checks", Json.createArrayBuilder())
            .build();
    int status = up ? HttpServletResponse.SC_OK : HttpServletResponse.SC_SERVICE_UNAVAILABLE;
    JsonAnswer.write(response, status, body);
  }
}
