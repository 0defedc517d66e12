// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.servlet.ServletContext;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The servlets without which an application serves none of its operations. Open Liberty 26.0.0.3
 * was once seen, on a busy machine, to start an application without its REST resources: it was
 * alive, ready, and answered 404. Why is not known.
 */
final class RequiredServlets {

  /** The exit code of a server that is not whole. */
  static final int INCOMPLETE = 3;

  private RequiredServlets() {}

  /** Ends the process, after one sentence, where a servlet is missing. */
  static void endUnlessComplete(Set<String> required, ServletContext context) {
    missing(required, context).ifPresent(sentence -> UnusableServer.end(sentence, INCOMPLETE));
  }

  /**
   * What is missing, in one sentence, or nothing.
   *
   * @param required names of servlets
   * @param context of the application, initialized
   */
  static Optional<String> missing(Set<String> required, ServletContext context) {
    Set<String> missing = new TreeSet<>(required);
    missing.removeAll(context.getServletRegistrations().keySet());
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "The server started the application without %s: it ends, start it again."
                .formatted(String.join(", ", missing)));
  }
}
