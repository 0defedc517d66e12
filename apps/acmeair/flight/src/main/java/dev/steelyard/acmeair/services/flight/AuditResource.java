// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.flight;

import dev.steelyard.acmeair.flight.FlightService;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.Locale;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** How many of the legs that were asked for since the start had a flight. */
@Path("/")
@Produces(MediaType.TEXT_PLAIN)
@Singleton
public final class AuditResource {

  private static final double PERCENT = 100;

  private final FlightService flights;
  private final double target;
  private final double tolerance;

  /**
   * @param target percentage that a run of the usual driver comes to: {@code
   *     TARGET_SUCCESS_RATIO_FOR_AUDIT}
   * @param tolerance how far from it still passes: {@code TOLERANCE_FOR_AUDIT}
   */
  @Inject
  public AuditResource(
      FlightService flights,
      @ConfigProperty(name = "target.success.ratio.for.audit") double target,
      @ConfigProperty(name = "tolerance.for.audit") double tolerance) {
    this.flights = flights;
    this.target = target;
    this.tolerance = tolerance;
  }

  /** Legs that were asked for. */
  @GET
  @Path("/searches")
  public String searches() {
    return Long.toString(flights.searches());
  }

  /** Legs that had a flight. */
  @GET
  @Path("/successes")
  public String successes() {
    return Long.toString(flights.successes());
  }

  /** Their share, in percent with one decimal; 0.0 before the first search. */
  @GET
  @Path("/successratio")
  public String ratio() {
    return String.format(Locale.ROOT, "%.1f", percentage());
  }

  /** {@code pass} or {@code fail}: whether the share is what the usual driver comes to. */
  @GET
  @Path("/audit")
  @Produces(MediaType.APPLICATION_OCTET_STREAM)
  public String audit() {
    return Math.abs(percentage() - target) <= tolerance ? "pass" : "fail";
  }

  private double percentage() {
    long searches = flights.searches();
    return searches == 0 ? 0 : PERCENT * flights.successes() / searches;
  }
}
