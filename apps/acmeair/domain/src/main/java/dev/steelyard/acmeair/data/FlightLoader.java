// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.flight.Airports;
import dev.steelyard.acmeair.flight.Segment;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.bson.Document;

/**
 * Writes airports, segments and flights: for each segment one flight a day from the day before the
 * loading day, leaving at midnight and flying 600 miles an hour.
 */
public final class FlightLoader {

  /** For how many days from the loading day on there are flights unless somebody says so. */
  public static final int DEFAULT_DAYS = 5;

  /** The most days that can be asked for. */
  public static final int MOST_DAYS = 366;

  private static final int MILES_PER_HOUR = 600;
  private static final String PART = "flights";

  private final MongoDatabase database;
  private final AcmeAirSettings settings;
  private final Clock clock;
  private final DataSet dataSet;

  /**
   * Loads into this database.
   *
   * @param clock tells today, if the settings leave it to the system
   */
  public FlightLoader(MongoDatabase database, AcmeAirSettings settings, Clock clock) {
    this.database = database;
    this.settings = settings;
    this.clock = clock;
    this.dataSet = new DataSet(database);
  }

  /**
   * A number of days that can be loaded.
   *
   * @throws InvalidInputException if it is less than 1 or more than {@link #MOST_DAYS}
   */
  public static int checked(long days) {
    if (days < 1 || days > MOST_DAYS) {
      throw new InvalidInputException("The number of days must be from 1 to " + MOST_DAYS + ".");
    }
    return (int) days;
  }

  /**
   * Replaces all flights, segments and airports.
   *
   * @param days for how many days, the loading day and on, there are to be flights
   */
  public synchronized void load(int days) {
    dataSet.forget(PART);
    for (String collection :
        List.of(Collections.AIRPORT, Collections.SEGMENT, Collections.FLIGHT)) {
      database.getCollection(collection).deleteMany(new Document());
    }
    SecondaryIndex.apply(settings, database, Collections.SEGMENT, "originPort", "destPort");
    SecondaryIndex.apply(settings, database, Collections.FLIGHT, "flightSegmentId");
    LocalDate today = settings.today(clock);
    List<Segment> segments = Airports.segments();
    ContentHash hash = new ContentHash();
    try (BatchWriter writer = new BatchWriter(database, Collections.SEGMENT, hash)) {
      segments.forEach(segment -> writer.write(document(segment)));
    }
    try (BatchWriter writer = new BatchWriter(database, Collections.FLIGHT, hash)) {
      for (Segment segment : segments) {
        for (int offset = -1; offset < days; offset++) {
          writer.write(flight(segment, today.plusDays(offset)));
        }
      }
    }
    try (BatchWriter writer = new BatchWriter(database, Collections.AIRPORT, hash)) {
      Airports.all()
          .forEach(
              airport ->
                  writer.write(
                      new Document("_id", airport.code()).append("airportName", airport.name())));
    }
    dataSet.remember(
        PART,
        hash.text(),
        Map.of(
            "days", Integer.toString(days),
            "today", today.toString(),
            "zone", settings.zone().getId(),
            "seed", Long.toString(settings.seed())));
  }

  private static Document document(Segment segment) {
    return new Document("_id", segment.id())
        .append("originPort", segment.from())
        .append("destPort", segment.to())
        .append("miles", segment.miles());
  }

  private Document flight(Segment segment, LocalDate day) {
    Instant departure = day.atStartOfDay(settings.zone()).toInstant();
    Instant arrival = departure.plus(Duration.ofMinutes(segment.miles() * 60L / MILES_PER_HOUR));
    return new Document("_id", id(segment, day))
        .append("firstClassBaseCost", 500)
        .append("economyClassBaseCost", 200)
        .append("numFirstClassSeats", 10)
        .append("numEconomyClassSeats", 200)
        .append("airplaneTypeId", "B747")
        .append("flightSegmentId", segment.id())
        .append("scheduledDepartureTime", departure)
        .append("scheduledArrivalTime", arrival);
  }

  private String id(Segment segment, LocalDate day) {
    String natural = settings.seed() + "/" + segment.id() + "/" + day;
    return UUID.nameUUIDFromBytes(natural.getBytes(StandardCharsets.UTF_8)).toString();
  }
}
