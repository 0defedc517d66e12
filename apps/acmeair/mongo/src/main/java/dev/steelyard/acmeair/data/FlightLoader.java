// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.flight.Airports;
import dev.steelyard.acmeair.flight.Flight;
import dev.steelyard.acmeair.flight.Segment;
import dev.steelyard.acmeair.mongo.Collections;
import dev.steelyard.acmeair.mongo.MongoFlights;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.bson.Document;

/**
 * Writes airports, segments and flights: for each segment one flight a day from the day before the
 * loading day.
 */
@Singleton
public final class FlightLoader {

  /** For how many days from the loading day on there are flights unless somebody says so. */
  public static final int DEFAULT_DAYS = 5;

  /** The most days that can be asked for. */
  public static final int MOST_DAYS = 366;

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
  @Inject
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
      segments.forEach(segment -> writer.write(MongoFlights.document(segment)));
    }
    try (BatchWriter writer = new BatchWriter(database, Collections.FLIGHT, hash)) {
      for (Segment segment : segments) {
        for (int offset = -1; offset < days; offset++) {
          writer.write(
              MongoFlights.document(
                  Flight.daily(segment, today.plusDays(offset), settings.zone(), settings.seed())));
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
}
