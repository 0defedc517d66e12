// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.booking;

import dev.steelyard.acmeair.mongo.Collections;
import dev.steelyard.acmeair.mongo.Counts;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** How the calls for miles went since the start. */
@Path("/")
@Produces(MediaType.TEXT_PLAIN)
@Singleton
public final class RewardsResource {

  private final RewardCounters counters;
  private final Counts counts;
  private final long target;
  private final long tolerance;

  /**
   * @param target bookings that a run of the usual driver with 1000 customers leaves: {@code
   *     TARGET_BOOKINGS_FOR_AUDIT}
   * @param tolerance how far from it still passes: {@code TOLERANCE_FOR_AUDIT}
   */
  @Inject
  public RewardsResource(
      RewardCounters counters,
      Counts counts,
      @ConfigProperty(name = "target.bookings.for.audit") long target,
      @ConfigProperty(name = "tolerance.for.audit") long tolerance) {
    this.counters = counters;
    this.counts = counts;
    this.target = target;
    this.tolerance = tolerance;
  }

  /** Calls of the flight service that were answered. */
  @GET
  @Path("/rewards/flightsuccesses")
  public String flightSuccesses() {
    return Long.toString(counters.flightSuccesses().sum());
  }

  /** Calls of the flight service that were not. */
  @GET
  @Path("/rewards/flightfailures")
  public String flightFailures() {
    return Long.toString(counters.flightFailures().sum());
  }

  /** Calls of the customer service that were answered. */
  @GET
  @Path("/rewards/customersuccesses")
  public String customerSuccesses() {
    return Long.toString(counters.customerSuccesses().sum());
  }

  /** Calls of the customer service that were not. */
  @GET
  @Path("/rewards/customerfailures")
  public String customerFailures() {
    return Long.toString(counters.customerFailures().sum());
  }

  /**
   * {@code pass} if no call failed, some were answered and there are about as many bookings as the
   * usual driver leaves; else {@code fail}.
   */
  @GET
  @Path("/audit")
  @Produces(MediaType.APPLICATION_OCTET_STREAM)
  public String audit() {
    boolean called =
        counters.flightFailures().sum() == 0
            && counters.customerFailures().sum() == 0
            && counters.flightSuccesses().sum() > 0
            && counters.customerSuccesses().sum() > 0;
    return called && Math.abs(counts.counted(Collections.BOOKING) - target) < tolerance
        ? "pass"
        : "fail";
  }
}
