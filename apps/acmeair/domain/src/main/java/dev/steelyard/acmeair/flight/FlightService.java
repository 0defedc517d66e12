// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.NotLoadedException;
import dev.steelyard.acmeair.data.Collections;
import dev.steelyard.acmeair.data.Counts;
import dev.steelyard.acmeair.json.DateTexts;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.LongAdder;
import org.bson.Document;

/** Flights: what flies from here to there on a day, and how far it is. */
public final class FlightService {

  private final MongoCollection<Document> flights;
  private final MongoCollection<Document> segments;
  private final Counts counts;
  private final Dialect dialect;
  private final ZoneId zone;
  private final boolean caching;
  private final FlightTexts texts;
  private final LongAdder searches = new LongAdder();
  private final LongAdder successes = new LongAdder();
  private volatile FlightCaches caches;
  private volatile boolean loaded;

  /**
   * Finds flights in this database.
   *
   * @param zone in which a day begins at midnight, and in which dates are set
   * @param caching whether to remember what the database said
   */
  public FlightService(MongoDatabase database, Dialect dialect, ZoneId zone, boolean caching) {
    this.flights = database.getCollection(Collections.FLIGHT);
    this.segments = database.getCollection(Collections.SEGMENT);
    this.counts = new Counts(database, dialect);
    this.dialect = dialect;
    this.zone = zone;
    this.caching = caching;
    this.texts = new FlightTexts(dialect, new DateTexts(zone));
    forget();
  }

  /** Forgets what was remembered: the database holds something else now. */
  public void forget() {
    caches = new FlightCaches(caching);
    loaded = !dialect.countsDocuments();
  }

  /**
   * The flights of each leg, JSON: {@code tripFlights}, an array of one or two legs, and {@code
   * tripLegs}, their number.
   *
   * <p>With warm caches no command is issued; else one find for each leg's segment, and one for its
   * flights if there is such a segment. Services also count the flights until there are some.
   *
   * @throws NotLoadedException from services, if there are none
   */
  public String query(FlightQuery query) {
    if (!loaded) {
      checkLoaded();
    }
    FlightCaches known = caches; // A load meanwhile must not find its caches filled from before.
    List<List<String>> found = new ArrayList<>(query.legs().size());
    for (FlightQuery.Leg leg : query.legs()) {
      List<String> options = find(leg, known);
      searches.increment();
      if (!options.isEmpty()) {
        successes.increment();
      }
      found.add(options);
    }
    return texts.reply(found);
  }

  private void checkLoaded() {
    if (counts.of(Collections.FLIGHT) == 0) {
      throw new NotLoadedException("No flights are loaded: GET /flight/loader/load first.");
    }
    loaded = true;
  }

  private List<String> find(FlightQuery.Leg leg, FlightCaches known) {
    return known
        .segment(new FlightCaches.Pair(leg.from(), leg.to()), this::segment)
        .map(
            segment ->
                known.flights(
                    new FlightCaches.Departure(segment.id(), leg.day()),
                    () -> flights(segment, leg.day())))
        .orElse(List.of());
  }

  private Optional<Segment> segment(FlightCaches.Pair pair) {
    return Optional.ofNullable(
            segments
                .find(
                    Filters.and(
                        Filters.eq("originPort", pair.from()), Filters.eq("destPort", pair.to())))
                .first())
        .map(FlightService::segment);
  }

  private static Segment segment(Document stored) {
    return new Segment(
        stored.getString("_id"),
        stored.getString("originPort"),
        stored.getString("destPort"),
        stored.getInteger("miles"));
  }

  private List<String> flights(Segment segment, LocalDate day) {
    List<String> options = new ArrayList<>(1);
    flights
        .find(
            Filters.and(
                Filters.eq("flightSegmentId", segment.id()),
                Filters.eq("scheduledDepartureTime", day.atStartOfDay(zone).toInstant())))
        .forEach(flight -> options.add(texts.option(flight, segment)));
    return List.copyOf(options);
  }

  /** The miles of a segment, or nothing for an unknown one: one find, none once it is known. */
  public OptionalInt miles(String segmentId) {
    return caches.miles(
        segmentId,
        id -> {
          Document segment = segments.find(Filters.eq(id)).first();
          return segment == null
              ? OptionalInt.empty()
              : OptionalInt.of(segment.getInteger("miles"));
        });
  }

  /** How many legs were asked for since the start. */
  public long searches() {
    return searches.sum();
  }

  /** How many of them had a flight. */
  public long successes() {
    return successes.sum();
  }
}
