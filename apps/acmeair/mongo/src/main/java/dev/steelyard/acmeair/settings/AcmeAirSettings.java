// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.settings;

import dev.steelyard.bench.settings.Environment;
import dev.steelyard.bench.settings.SettingsException;
import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the applications of AcmeAir can be told.
 *
 * @param fixedToday the day on which flights are based, or nothing for the day on which they are
 *     loaded
 * @param zone of midnights and of the texts of dates
 * @param seed of the ids in the data set
 * @param indexes which indexes the database gets
 * @param caching whether flights are cached in the process
 * @param json how servers handle what they keep
 * @param executorThreads what the server was told of its request threads; only repeated in {@code
 *     /bench/info}
 */
public record AcmeAirSettings(
    Optional<LocalDate> fixedToday,
    ZoneId zone,
    long seed,
    Indexes indexes,
    boolean caching,
    Json json,
    int executorThreads) {

  /** The indexes that the loaders leave behind. */
  public enum Indexes {
    /** None but {@code _id}: what the original does, by-user lists scan their collection. */
    NONE,
    /** On what the operations search by: bookings by customer, segments by airports, flights. */
    SECONDARY
  }

  /** How servers handle sessions, customers and segments. */
  public enum Json {
    /**
     * As JSON texts that are parsed wherever something in them is needed: what the originals do.
     */
    ORIGINAL,
    /** As what they are. */
    LEAN
  }

  private static final LocalDate TODAY = LocalDate.of(2026, 6, 15);

  /**
   * Reads {@code ACMEAIR_TODAY} ({@code YYYY-MM-DD} or {@code system}), {@code ACMEAIR_ZONE},
   * {@code ACMEAIR_SEED}, {@code ACMEAIR_INDEXES} ({@code none} or {@code secondary}), {@code
   * USE_FLIGHT_DATA_RELATED_CACHING}, {@code ACMEAIR_JSON} ({@code original} or {@code lean}) and
   * {@code EXECUTOR_THREADS}.
   *
   * @throws SettingsException for a value that cannot be used
   */
  public static AcmeAirSettings read(Map<String, String> variables) {
    Environment environment = new Environment(variables);
    return new AcmeAirSettings(
        environment.parsed(
            "ACMEAIR_TODAY",
            Optional.of(TODAY),
            "a day such as 2026-06-15, or to system",
            text -> "system".equals(text) ? Optional.empty() : Optional.of(LocalDate.parse(text))),
        environment.parsed(
            "ACMEAIR_ZONE",
            ZoneId.of("UTC"),
            "a time zone such as UTC or Europe/Berlin",
            ZoneId::of),
        environment.parsed("ACMEAIR_SEED", 1L, "a whole number", Environment::whole),
        environment.choice("ACMEAIR_INDEXES", Indexes.NONE),
        environment.flag("USE_FLIGHT_DATA_RELATED_CACHING", true),
        environment.choice("ACMEAIR_JSON", Json.ORIGINAL),
        environment.number("EXECUTOR_THREADS", -1, -1, 100_000));
  }

  /** The day on which flights that are loaded now are based. */
  public LocalDate today(Clock clock) {
    return fixedToday.orElseGet(() -> LocalDate.now(clock.withZone(zone)));
  }

  /** These settings as {@code /bench/info} shows them. */
  public SortedMap<String, String> shown() {
    SortedMap<String, String> shown = new TreeMap<>();
    shown.put("today", fixedToday.map(LocalDate::toString).orElse("system"));
    shown.put("zone", zone.getId());
    shown.put("seed", Long.toString(seed));
    shown.put("indexes", Environment.word(indexes));
    shown.put("json", Environment.word(json));
    shown.put("caching", Boolean.toString(caching));
    shown.put("executorThreads", Integer.toString(executorThreads));
    return shown;
  }
}
