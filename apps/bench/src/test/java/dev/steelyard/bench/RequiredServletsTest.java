// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.junit.jupiter.api.Test;

/** What is found missing once a real servlet container has initialized an application. */
final class RequiredServletsTest {

  @Test
  void anApplicationThatIsWholeIsNotSpokenOf() throws Exception {
    assertEquals(Optional.empty(), missing(Set.of("shop.Rest")));
    assertEquals(Optional.empty(), missing(Set.of()));
  }

  @Test
  void allThatIsMissingIsNamedInOneSentence() throws Exception {
    assertEquals(
        Optional.of(
            "The server started the application without shop.Admin, shop.Search: it ends, start it"
                + " again."),
        missing(Set.of("shop.Search", "shop.Rest", "shop.Admin")));
  }

  private static Optional<String> missing(Set<String> required) throws Exception {
    ServletContextHandler context = new ServletContextHandler("/shop");
    // As containers add a REST application: while they start, under the name of its class.
    context.addServletContainerInitializer(
        (classes, started) -> started.addServlet("shop.Rest", new BehaviourServlet()));
    Server server = new Server();
    server.setHandler(context);
    server.start();
    try {
      return RequiredServlets.missing(required, context.getServletContext());
    } finally {
      server.stop();
    }
  }
}
