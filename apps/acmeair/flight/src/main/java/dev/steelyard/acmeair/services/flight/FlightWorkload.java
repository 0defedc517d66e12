// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.mongo.DatabaseWorkload;
import dev.steelyard.acmeair.web.Operations;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import java.util.Set;

/** The operations of the flight service. */
public final class FlightWorkload extends DatabaseWorkload {

  private static final Optional<String> QUERY = Optional.of(Operations.QUERY_FLIGHT);
  private static final Optional<String> MILES = Optional.of(Operations.INTERNAL_REWARD_MILES);

  @Override
  public Set<String> servlets() {
    return Set.of(FlightApplication.class.getName());
  }

  @Override
  public Set<String> operations() {
    return Set.of(Operations.QUERY_FLIGHT, Operations.INTERNAL_REWARD_MILES);
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    return switch (String.valueOf(request.getPathInfo())) {
      case "/queryflights" -> QUERY;
      case "/getrewardmiles" -> MILES;
      default -> Optional.empty();
    };
  }
}
