// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.mongo.DatabaseWorkload;
import dev.steelyard.acmeair.web.Operations;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import java.util.Set;

/** The operations of the booking service. */
public final class BookingWorkload extends DatabaseWorkload {

  private static final Optional<String> BOOK = Optional.of(Operations.BOOK_FLIGHT);
  private static final Optional<String> CANCEL = Optional.of(Operations.CANCEL_BOOKING);
  private static final Optional<String> LIST = Optional.of(Operations.LIST_BOOKINGS);

  @Override
  public Set<String> servlets() {
    return Set.of(BookingApplication.class.getName());
  }

  @Override
  public Set<String> operations() {
    return Set.of(Operations.BOOK_FLIGHT, Operations.CANCEL_BOOKING, Operations.LIST_BOOKINGS);
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    String path = String.valueOf(request.getPathInfo());
    return switch (path) {
      case "/bookflights" -> BOOK;
      case "/cancelbooking" -> CANCEL;
      default -> path.startsWith("/byuser/") ? LIST : Optional.empty();
    };
  }
}
