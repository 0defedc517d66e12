// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import jakarta.ws.rs.ForbiddenException;
import jakarta.ws.rs.core.SecurityContext;

/** Customers act for themselves only. */
final class Customers {

  private Customers() {}

  /**
   * The id of the session's customer.
   *
   * @throws ForbiddenException if it is another's
   */
  static String own(String id, SecurityContext session) {
    if (!session.getUserPrincipal().getName().equals(id)) {
      throw new ForbiddenException();
    }
    return id;
  }
}
