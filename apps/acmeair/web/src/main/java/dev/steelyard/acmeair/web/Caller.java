// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import dev.steelyard.acmeair.NotPermittedException;
import jakarta.ws.rs.core.SecurityContext;

/** Who calls: the customer of a session, or of a token. Customers act for themselves only. */
public final class Caller {

  private Caller() {}

  /**
   * The id that somebody acts for, which must be their own.
   *
   * @throws NotPermittedException if it is another's
   */
  public static String own(String id, SecurityContext caller) {
    if (!caller.getUserPrincipal().getName().equals(id)) {
      throw new NotPermittedException();
    }
    return id;
  }
}
