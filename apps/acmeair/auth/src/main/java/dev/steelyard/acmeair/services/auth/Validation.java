// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import dev.steelyard.acmeair.calls.Calls;
import dev.steelyard.acmeair.web.FailureLog;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.ClientErrorException;
import jakarta.ws.rs.ServiceUnavailableException;
import java.io.UncheckedIOException;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.eclipse.microprofile.faulttolerance.ExecutionContext;
import org.eclipse.microprofile.faulttolerance.Fallback;
import org.eclipse.microprofile.faulttolerance.FallbackHandler;
import org.eclipse.microprofile.faulttolerance.Retry;
import org.eclipse.microprofile.faulttolerance.Timeout;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;
import org.eclipse.microprofile.rest.client.inject.RestClient;

/** Asks the customer service. Limits are in {@code META-INF/microprofile-config.properties}. */
@Singleton
public class Validation {

  /** What is known of a login. */
  public enum Verdict {
    VALID,
    INVALID,
    /** The customer service did not say. */
    UNKNOWN
  }

  private final CustomerClient customers;

  @Inject
  Validation(@RestClient CustomerClient customers) {
    this.customers = customers;
  }

  /**
   * Whether this is a customer's password. Tried again where the service took too long or failed,
   * not where it cannot be reached or says that it cannot serve now: that is then known at once.
   */
  @Timeout
  @CircuitBreaker(skipOn = ClientErrorException.class)
  @Retry(
      abortOn = {
        UncheckedIOException.class,
        ClientErrorException.class,
        ServiceUnavailableException.class,
        CircuitBreakerOpenException.class
      })
  @Fallback(Unanswered.class)
  public Verdict verdict(String login, String password) {
    boolean valid = Calls.answer(() -> customers.validate(login, password)).getBoolean("validated");
    return valid ? Verdict.VALID : Verdict.INVALID;
  }

  /** What is answered where the service does not; why is told. */
  public static final class Unanswered implements FallbackHandler<Verdict> {

    private static final FailureLog FAILURES =
        new FailureLog("The customer service did not say who may log in");

    @Override
    public Verdict handle(ExecutionContext call) {
      FAILURES.tell(call.getFailure());
      return Verdict.UNKNOWN;
    }
  }
}
