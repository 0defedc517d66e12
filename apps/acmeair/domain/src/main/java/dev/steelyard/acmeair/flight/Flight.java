// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.UUID;

/**
 * A flight on a day.
 *
 * @param id of the flight
 * @param firstClassBaseCost price in first class
 * @param economyClassBaseCost price in economy class
 * @param numFirstClassSeats seats in first class
 * @param numEconomyClassSeats seats in economy class
 * @param airplaneTypeId such as B747
 * @param segment from where to where
 * @param departure when it leaves
 * @param arrival when it arrives
 */
public record Flight(
    String id,
    int firstClassBaseCost,
    int economyClassBaseCost,
    int numFirstClassSeats,
    int numEconomyClassSeats,
    String airplaneTypeId,
    Segment segment,
    Instant departure,
    Instant arrival) {

  private static final int MILES_PER_HOUR = 600;

  /**
   * The one flight of a segment on a day: it leaves at midnight and flies 600 miles an hour.
   *
   * @param zone of midnight
   * @param seed of the id
   */
  public static Flight daily(Segment segment, LocalDate day, ZoneId zone, long seed) {
    Instant departure = day.atStartOfDay(zone).toInstant();
    String natural = seed + "/" + segment.id() + "/" + day;
    return new Flight(
        UUID.nameUUIDFromBytes(natural.getBytes(StandardCharsets.UTF_8)).toString(),
        500,
        200,
        10,
        200,
        "B747",
        segment,
        departure,
        departure.plus(Duration.ofMinutes(segment.miles() * 60L / MILES_PER_HOUR)));
  }
}
