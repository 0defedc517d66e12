// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.testkit.OncePerRun;

/** One server for all tests that ask for a {@link Deployed}: starting it is what takes long. */
final class Servers extends OncePerRun<Deployed> {

  Servers() {
    super(Deployed.class, Deployed::new);
  }
}
