// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import dev.steelyard.testkit.OncePerRun;
import java.util.List;

/** Gives tests the one {@link Deployment} of the run: of the microservices, or of the monolith. */
final class Deployments {

  private Deployments() {}

  static final class Services extends OncePerRun<Deployment> {
    Services() {
      super(Deployment.class, () -> new Deployment(Deployment.SERVICES));
    }
  }

  static final class Monolith extends OncePerRun<Deployment> {
    Monolith() {
      super(Deployment.class, () -> new Deployment(List.of("monolith")));
    }
  }

  static final class MonolithOnFerretDb extends OncePerRun<Deployment> {
    MonolithOnFerretDb() {
      super(Deployment.class, () -> new Deployment(List.of("monolith"), Database::ferretDb));
    }
  }
}
