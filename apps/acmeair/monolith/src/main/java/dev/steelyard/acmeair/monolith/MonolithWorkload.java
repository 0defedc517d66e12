// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.mongo.DatabaseWorkload;
import dev.steelyard.acmeair.web.Operations;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The workload {@code acmeair} as the monolith serves it. */
public final class MonolithWorkload extends DatabaseWorkload {

  private static final String PROFILE = "/api/customer/byid/";
  private static final String BOOKINGS = "/api/bookings/byuser/";

  private static final Map<String, Optional<String>> PATHS =
      Map.of(
          "/api/login", Optional.of(Operations.LOGIN),
          "/api/login/logout", Optional.of(Operations.LOGOUT),
          "/api/flights/queryflights", Optional.of(Operations.QUERY_FLIGHT),
          "/api/bookings/bookflights", Optional.of(Operations.BOOK_FLIGHT),
          "/api/bookings/cancelbooking", Optional.of(Operations.CANCEL_BOOKING));

  private static final Optional<String> VIEW = Optional.of(Operations.VIEW_PROFILE);
  private static final Optional<String> UPDATE = Optional.of(Operations.UPDATE_CUSTOMER);
  private static final Optional<String> LIST = Optional.of(Operations.LIST_BOOKINGS);

  @Override
  public Set<String> servlets() {
    return Set.of(MonolithApplication.class.getName());
  }

  @Override
  public Set<String> operations() {
    return Operations.ALL;
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    String path = request.getPathInfo();
    if (path == null || !"/rest".equals(request.getServletPath())) {
      return Optional.empty();
    }
    Optional<String> operation = PATHS.get(path);
    if (operation != null) {
      return operation;
    }
    if (path.startsWith(PROFILE)) {
      return "POST".equals(request.getMethod()) ? UPDATE : VIEW;
    }
    return path.startsWith(BOOKINGS) ? LIST : Optional.empty();
  }
}
