// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.LongAdder;

/**
 * How the calls for miles went since the start.
 *
 * @param flightSuccesses calls of the flight service that were answered
 * @param flightFailures those that were not, after all retries
 * @param customerSuccesses the same of the customer service
 * @param customerFailures the same of the customer service
 */
@Singleton
public record RewardCounters(
    LongAdder flightSuccesses,
    LongAdder flightFailures,
    LongAdder customerSuccesses,
    LongAdder customerFailures) {

  /** All zero. */
  public RewardCounters() {
    this(new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder());
  }
}
