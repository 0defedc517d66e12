// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.util.function.Function;

/**
 * One kind of request of a workload.
 *
 * @param name name in mixes, logs and reports: no comma, blank or colon
 * @param request makes the request for a base URL. It is called once per target, when the run is
 *     built, so that a constant URL is put together once and not per request.
 */
public record Operation(String name, Function<String, HttpRequestActionBuilder> request) {}
