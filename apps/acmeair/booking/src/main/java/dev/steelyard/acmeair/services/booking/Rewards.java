// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.web.FailureLog;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.faulttolerance.Asynchronous;
import org.eclipse.microprofile.faulttolerance.Timeout;

/** Gives customers the miles of what they book, and takes back those of what they cancel. */
@Singleton
public class Rewards {

  /** What happens to the miles. */
  public enum Sign {
    ADD(1),
    TAKE_BACK(-1);

    private final int factor;

    Sign(int factor) {
      this.factor = factor;
    }
  }

  private static final FailureLog FLIGHT_FAILURES =
      new FailureLog("The flight service was not asked for miles");
  private static final FailureLog CUSTOMER_FAILURES =
      new FailureLog("The customer service was not told of miles");

  private final MilesCalls calls;
  private final RewardCounters counters;

  @Inject
  Rewards(MilesCalls calls, RewardCounters counters) {
    this.calls = calls;
    this.counters = counters;
  }

  /**
   * Settles the miles of one leg on a thread of the server's pool and counts how that went. A
   * segment that does not exist has no miles: then the customer service is not called.
   *
   * @return when it is done, well or not
   */
  @Asynchronous
  @Timeout
  public CompletionStage<Void> settle(String customer, String segment, Sign sign) {
    flightMiles(segment).ifPresent(miles -> add(customer, sign.factor * miles));
    return CompletableFuture.completedFuture(null);
  }

  private OptionalInt flightMiles(String segment) {
    try {
      OptionalInt miles = calls.of(segment);
      counters.flightSuccesses().increment();
      return miles;
    } catch (RuntimeException e) { // Of every kind: the call failed, and that is what is counted.
      counters.flightFailures().increment();
      FLIGHT_FAILURES.tell(e);
      return OptionalInt.empty();
    }
  }

  private void add(String customer, int miles) {
    try {
      calls.add(customer, miles);
      counters.customerSuccesses().increment();
    } catch (RuntimeException e) { // The same.
      counters.customerFailures().increment();
      CUSTOMER_FAILURES.tell(e);
    }
  }
}
