// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static dev.steelyard.loadgen.SettingsException.filled;
import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.needed;
import static dev.steelyard.loadgen.SettingsException.within;
import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.steelyard.loadgen.journey.declared.JourneySpec;
import java.net.URI;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What one injector does. A new one fills in every default and refuses what cannot be run.
 *
 * @param scenario name of a scenario that is built in; null if there is a journey
 * @param journey a journey in words of its own; null if there is a scenario
 * @param parameters of the scenario, by name, which adds its defaults; or constants of the journey
 * @param mix visit of the journey to percent, in place of the weights; null for the weights
 * @param targets base URLs of the servers, without a trailing slash
 * @param model how load is offered
 * @param users closed model: virtual users of all injectors together; null in the others
 * @param rate open model: arrivals per second of all injectors together; null in the others
 * @param arrivals open model: how the gaps between arrivals are distributed
 * @param rampSeconds time in which the users start, or the rate grows from 0 to its value
 * @param warmupSeconds time at full load that the analysis leaves out
 * @param measureSeconds time at full load after the warm-up
 * @param thinkTimeMillis closed model: mean of the exponential pause of a user after operations for
 *     which its journey has no pause; 0 for none
 * @param seed of all that is drawn
 * @param injector index of this injector, from 0
 * @param injectors number of injectors in the run
 * @param requestTimeoutMillis time after which a request counts as failed
 * @param awaitStart whether load waits for the file {@code start}
 * @param meet host and port of the first injector, where all wait for each other; null for a run
 *     that begins by itself
 * @param meetSeconds how long they wait for each other there
 * @param output absolute folder of the files of the run
 */
public record Settings(
    String scenario,
    JourneySpec journey,
    Map<String, Object> parameters,
    Map<String, Double> mix,
    List<String> targets,
    Model model,
    Integer users,
    Double rate,
    ArrivalGaps arrivals,
    Double rampSeconds,
    Double warmupSeconds,
    Double measureSeconds,
    Integer thinkTimeMillis,
    Long seed,
    Integer injector,
    Integer injectors,
    Integer requestTimeoutMillis,
    Boolean awaitStart,
    String meet,
    Integer meetSeconds,
    Path output) {

  private static final double MAX_SECONDS = 7 * 24 * 3600;
  private static final int LAST_PORT = 65_535;

  /** How load is offered. */
  public enum Model {
    /** A fixed number of users, each with one operation at a time. */
    @JsonProperty("closed")
    CLOSED,
    /** A fixed arrival rate, whatever the servers do. */
    @JsonProperty("open")
    OPEN,
    /** One user that waits for servers that start, until every operation was answered once. */
    @JsonProperty("probe")
    PROBE,
    /** One user that makes each visit of a declared journey once, and tells all that it sees. */
    @JsonProperty("try")
    TRY
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

  /** Fills in and checks. */
  public Settings {
    if ((scenario == null) == (journey == null)) {
      throw new SettingsException("Give exactly one of the settings \"scenario\" and \"journey\".");
    }
    if (journey == null && mix != null) {
      throw new SettingsException(
          "mix", "does not belong to the scenario %s: leave it out".formatted(scenario));
    }
    if (journey == null && model == Model.TRY) {
      throw new SettingsException("model", "try belongs to a declared journey");
    }
    parameters = new LinkedHashMap<>(requireNonNullElse(parameters, Map.of()));
    parameters.forEach(Settings::checkScalar);
    targets = filled("targets", targets).stream().map(Settings::baseUrl).toList();
    needed("model", model);
    only(Model.CLOSED, model, "users", users);
    only(Model.CLOSED, model, "thinkTimeMillis", thinkTimeMillis);
    only(Model.OPEN, model, "rate", rate);
    only(Model.OPEN, model, "arrivals", arrivals);
    injectors = within("injectors", requireNonNullElse(injectors, 1), 1, 10_000);
    injector = within("injector", requireNonNullElse(injector, 0), 0, injectors - 1);
    users = model == Model.CLOSED ? within("users", users, injectors, 1e5 * injectors) : null;
    rate = model == Model.OPEN ? within("rate", rate, 0.001 * injectors, 1e6 * injectors) : null;
    arrivals = model == Model.OPEN ? requireNonNullElse(arrivals, ArrivalGaps.EVEN) : null;
    rampSeconds = within("rampSeconds", requireNonNullElse(rampSeconds, 0.0), 0, MAX_SECONDS);
    warmupSeconds = within("warmupSeconds", requireNonNullElse(warmupSeconds, 0.0), 0, MAX_SECONDS);
    measureSeconds = within("measureSeconds", measureSeconds, 0.1, MAX_SECONDS);
    thinkTimeMillis =
        within("thinkTimeMillis", requireNonNullElse(thinkTimeMillis, 0), 0, 3_600_000);
    seed = requireNonNullElse(seed, 1L);
    requestTimeoutMillis =
        within(
            "requestTimeoutMillis", requireNonNullElse(requestTimeoutMillis, 10_000), 1, 600_000);
    awaitStart = requireNonNullElse(awaitStart, false);
    if (meet != null && !isAddress(meet)) {
      throw must("meet", meet, "HOST:PORT of the first injector");
    }
    meetSeconds = within("meetSeconds", requireNonNullElse(meetSeconds, 300), 1, 86_400);
    if (!needed("output", output).isAbsolute()) {
      throw must("output", output.toString(), "an absolute path of a folder");
    }
  }

  /** Users of this injector: all are dealt out as evenly as can be, the first injectors first. */
  public int ownUsers() {
    return users / injectors + (injector < users % injectors ? 1 : 0);
  }

  /** Index of the first of them over all injectors. */
  public long firstUser() {
    return users == null
        ? 0
        : (long) injector * (users / injectors) + Math.min(injector, users % injectors);
  }

  /**
   * Where a user or an even arrival of this injector stands among those of all, which take turns.
   */
  public long turn(long number) {
    return number * injectors + injector;
  }

  /**
   * Longest time for which an operation connects and waits for an answer, a message or an event.
   */
  public int longestWaitMillis() {
    long within = journey == null ? 0 : journey.longestWithin().toMillis();
    return Math.toIntExact(requestTimeoutMillis + within);
  }

  /** Longest time under load in seconds; a stop file or a signal may end the run earlier. */
  public double totalSeconds() {
    return rampSeconds + warmupSeconds + measureSeconds;
  }

  private static void only(Model needed, Model actual, String key, Object value) {
    boolean absent = value == null || (value instanceof Number n && n.doubleValue() == 0);
    if (actual != needed && !absent) {
      String model = needed.name().toLowerCase(Locale.ROOT);
      throw new SettingsException(
          key, "belongs to the %s model: leave it out, or set \"model\" to it".formatted(model));
    }
  }

  /** Whether it ends with a port that a process can listen at. */
  private static boolean isAddress(String text) {
    return text.matches("[^:\\s]+:[1-9][0-9]{0,4}")
        && Integer.parseInt(text.substring(text.indexOf(':') + 1)) <= LAST_PORT;
  }

  private static void checkScalar(String name, Object value) {
    if (!(value instanceof String || value instanceof Number || value instanceof Boolean)) {
      throw must("parameters." + name, value, "a text, a number, true or false");
    }
  }

  private static String baseUrl(String text) {
    try {
      URI uri = URI.create(String.valueOf(text));
      if (Set.of("http", "https").contains(String.valueOf(uri.getScheme()))
          && uri.getHost() != null
          && uri.getRawQuery() == null
          && uri.getRawFragment() == null) {
        return text.replaceFirst("/+$", "");
      }
    } catch (IllegalArgumentException e) {
      // Refused below. "#{" and "${", which Gatling would read as expressions, end up here as well.
    }
    throw must("targets", text, "a list of base URLs such as \"http://127.0.0.1:9080\"");
  }
}
