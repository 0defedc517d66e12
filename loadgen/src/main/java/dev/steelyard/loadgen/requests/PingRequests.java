// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

/** Requests of the ping workload. */
public final class PingRequests {
  /** {@code GET /ping}: status 200 and the fixed text. */
  public static final Operation PING =
      new Operation(
          "ping",
          baseUrl ->
              http("ping")
                  .get(baseUrl + "/ping")
                  .check(status().is(200), bodyString().is("pong\n")));

  private PingRequests() {}
}
