// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import io.gatling.javaapi.core.ChainBuilder;
import java.util.function.Function;

/**
 * A step of a scenario: what is sent, and what it is measured as.
 *
 * @param operation name of the operation, in logs and reports; several steps may share it
 * @param exchange makes what is sent: a request, a page with its parts, a WebSocket. It is called
 *     once per target, when the run is built, so that what is constant is put together once.
 */
public record Step(String operation, Function<Target, ChainBuilder> exchange) {}
