// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;

/**
 * What one injector does, as resolved: every default is filled in.
 *
 * @param workload name of the workload
 * @param targets base URLs of the servers, without a trailing slash
 * @param model closed (a fixed number of users) or open (a fixed arrival rate)
 * @param users closed model: virtual users of this injector; 0 in the open model
 * @param rate open model: arrivals per second of this injector; 0 in the closed model
 * @param arrivals open model: how the gaps between arrivals are distributed
 * @param rampSeconds time in which the users start, or the rate grows from 0 to its value
 * @param warmupSeconds time at full load that the analysis leaves out
 * @param measureSeconds time at full load after the warm-up
 * @param thinkTimeMillis closed model: mean of the exponential pause of a user between its
 *     requests; 0 for none
 * @param mix operation to percent; sums to 100. Where journeys decide the operations, the mix in
 *     which they end up after a long time
 * @param customers number of customers of the data set that the load is spread over; null if the
 *     workload has none
 * @param today the day from which the load counts its dates, the same as the servers'; null if the
 *     workload has no dates
 * @param visitsPerLogin visits that follow one login; null if the workload has none
 * @param seed seed of think times, operation choice and arrival gaps
 * @param injector index of this injector, from 0
 * @param injectors number of injectors in the run
 * @param requestTimeoutMillis time after which a request counts as failed
 * @param output absolute folder of the files of the run
 */
public record Settings(
    String workload,
    List<String> targets,
    Model model,
    int users,
    double rate,
    ArrivalGaps arrivals,
    double rampSeconds,
    double warmupSeconds,
    double measureSeconds,
    int thinkTimeMillis,
    Map<String, Double> mix,
    Integer customers,
    @JsonSerialize(using = ToStringSerializer.class) LocalDate today,
    Integer visitsPerLogin,
    long seed,
    int injector,
    int injectors,
    int requestTimeoutMillis,
    @JsonSerialize(using = ToStringSerializer.class) Path output) {

  /** How load is offered. */
  public enum Model {
    /** A fixed number of users, each with one request at a time. */
    @JsonProperty("closed")
    CLOSED,
    /** A fixed arrival rate, whatever the servers do. */
    @JsonProperty("open")
    OPEN
  }

  /** Distribution of the gaps between arrivals. */
  public enum ArrivalGaps {
    /** All gaps equal. */
    @JsonProperty("even")
    EVEN,
    /** Gaps of a Poisson process. */
    @JsonProperty("exponential")
    EXPONENTIAL
  }

  /** Longest time under load in seconds; a stop file or a signal may end the run earlier. */
  public double totalSeconds() {
    return rampSeconds + warmupSeconds + measureSeconds;
  }
}
