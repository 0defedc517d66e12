// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.calls;

import jakarta.ws.rs.ProcessingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Supplier;

/** Calls of another service. */
public final class Calls {

  private Calls() {}

  /**
   * The answer to a call. Rules of retrying tell a service that cannot be reached from one that
   * fails, which the client hides behind one exception.
   *
   * @throws UncheckedIOException if the service cannot be reached, or the connection breaks
   * @throws jakarta.ws.rs.WebApplicationException for a status of 400 or more
   */
  public static <T> T answer(Supplier<T> call) {
    try {
      return call.get();
    } catch (ProcessingException e) {
      if (e.getCause() instanceof IOException cause) {
        throw new UncheckedIOException(cause);
      }
      throw e;
    }
  }
}
