// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.customer;

import dev.steelyard.acmeair.mongo.DatabaseWorkload;
import dev.steelyard.acmeair.web.Operations;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import java.util.Set;

/** The operations of the customer service. */
public final class CustomerWorkload extends DatabaseWorkload {

  private static final Optional<String> VIEW = Optional.of(Operations.VIEW_PROFILE);
  private static final Optional<String> UPDATE = Optional.of(Operations.UPDATE_CUSTOMER);
  private static final Optional<String> VALIDATE = Optional.of(Operations.INTERNAL_VALIDATE_ID);
  private static final Optional<String> MILES = Optional.of(Operations.INTERNAL_MILES);

  @Override
  public Set<String> servlets() {
    return Set.of(CustomerApplication.class.getName());
  }

  @Override
  public Set<String> operations() {
    return Set.of(
        Operations.VIEW_PROFILE,
        Operations.UPDATE_CUSTOMER,
        Operations.INTERNAL_VALIDATE_ID,
        Operations.INTERNAL_MILES);
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    String path = String.valueOf(request.getPathInfo());
    boolean post = "POST".equals(request.getMethod());
    if (path.startsWith("/byid/")) {
      return post ? UPDATE : VIEW;
    }
    if (post && path.equals("/internal/validateid")) {
      return VALIDATE;
    }
    return post && path.startsWith("/internal/updateCustomerTotalMiles/")
        ? MILES
        : Optional.empty();
  }
}
