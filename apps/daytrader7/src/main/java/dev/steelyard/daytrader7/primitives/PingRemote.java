// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.ejb.Remote;

/** {@link PingBean} called by value, as from another JVM. */
@Remote
public interface PingRemote {

  /** What an investment gained, in percent of it: next to nothing to do. */
  double investmentReturn(double investment, double worth);
}
