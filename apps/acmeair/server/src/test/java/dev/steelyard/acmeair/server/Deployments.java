// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import dev.steelyard.testkit.OncePerRun;

/** Gives tests the one {@link Deployment} of the run. */
final class Deployments extends OncePerRun<Deployment> {

  Deployments() {
    super(Deployment.class, Deployment::new);
  }
}
