// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.calls.Calls;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.JsonObject;
import jakarta.ws.rs.ClientErrorException;
import jakarta.ws.rs.ServiceUnavailableException;
import java.io.UncheckedIOException;
import java.util.OptionalInt;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.eclipse.microprofile.faulttolerance.Retry;
import org.eclipse.microprofile.faulttolerance.Timeout;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;
import org.eclipse.microprofile.rest.client.inject.RestClient;

/**
 * The two calls that miles take. Limits are in {@code META-INF/microprofile-config.properties}.
 *
 * <p>Both are tried again where a service took too long or failed, not where it cannot be reached
 * or says that it cannot serve now. In the end they throw what the last try threw.
 */
@Singleton
public class MilesCalls {

  private static final String MILES = "miles";

  private final FlightClient flights;
  private final CustomerClient customers;

  @Inject
  MilesCalls(@RestClient FlightClient flights, @RestClient CustomerClient customers) {
    this.flights = flights;
    this.customers = customers;
  }

  /** The miles of a segment, or nothing for an unknown one. */
  @Timeout
  @CircuitBreaker(skipOn = ClientErrorException.class)
  @Retry(
      abortOn = {
        UncheckedIOException.class,
        ClientErrorException.class,
        ServiceUnavailableException.class,
        CircuitBreakerOpenException.class
      })
  public OptionalInt of(String segment) {
    JsonObject answer = Calls.answer(() -> flights.miles(segment));
    return answer.containsKey(MILES) ? OptionalInt.of(answer.getInt(MILES)) : OptionalInt.empty();
  }

  /** Adds miles to a customer's, or takes them back. */
  @Timeout
  @CircuitBreaker(skipOn = ClientErrorException.class)
  @Retry(
      abortOn = {
        UncheckedIOException.class,
        ClientErrorException.class,
        ServiceUnavailableException.class,
        CircuitBreakerOpenException.class
      })
  public void add(String customer, int miles) {
    Calls.answer(() -> customers.addMiles(customer, miles));
  }
}
