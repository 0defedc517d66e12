// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.NotPermittedException;
import jakarta.ws.rs.core.SecurityContext;

/** Customers act for themselves only. */
final class Customers {

  private Customers() {}

  /**
   * The id of the session's customer.
   *
   * @throws NotPermittedException if it is another's
   */
  static String own(String id, SecurityContext session) {
    if (!session.getUserPrincipal().getName().equals(id)) {
      throw new NotPermittedException();
    }
    return id;
  }
}
