// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.steelyard.acmeair.flight.Flight;
import dev.steelyard.acmeair.flight.FlightRepository;
import dev.steelyard.acmeair.flight.Segment;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.bson.Document;

/** Segments and flights in their collections: one find for each call. */
public final class MongoFlights implements FlightRepository {

  private final MongoCollection<Document> flights;
  private final MongoCollection<Document> segments;
  private final ZoneId zone;

  /**
   * @param zone in which a day begins at midnight
   */
  public MongoFlights(MongoDatabase database, ZoneId zone) {
    this.flights = database.getCollection(Collections.FLIGHT);
    this.segments = database.getCollection(Collections.SEGMENT);
    this.zone = zone;
  }

  @Override
  public Optional<Segment> segment(String from, String to) {
    return Optional.ofNullable(
            segments
                .find(Filters.and(Filters.eq("originPort", from), Filters.eq("destPort", to)))
                .first())
        .map(
            stored ->
                new Segment(
                    stored.getString("_id"),
                    stored.getString("originPort"),
                    stored.getString("destPort"),
                    stored.getInteger("miles")));
  }

  @Override
  public List<Flight> flights(Segment segment, LocalDate day) {
    return List.copyOf(
        flights
            .find(
                Filters.and(
                    Filters.eq("flightSegmentId", segment.id()),
                    Filters.eq("scheduledDepartureTime", day.atStartOfDay(zone).toInstant())))
            .map(stored -> entity(stored, segment))
            .into(new ArrayList<>(1)));
  }

  @Override
  public OptionalInt miles(String segmentId) {
    Document segment = segments.find(Filters.eq(segmentId)).first();
    return segment == null ? OptionalInt.empty() : OptionalInt.of(segment.getInteger("miles"));
  }

  @Override
  public long count() {
    return flights.countDocuments();
  }

  @Override
  public void forget() {
    // Nothing is remembered.
  }

  private static Flight entity(Document stored, Segment segment) {
    return new Flight(
        stored.getString("_id"),
        stored.getInteger("firstClassBaseCost"),
        stored.getInteger("economyClassBaseCost"),
        stored.getInteger("numFirstClassSeats"),
        stored.getInteger("numEconomyClassSeats"),
        stored.getString("airplaneTypeId"),
        segment,
        stored.get("scheduledDepartureTime", Instant.class),
        stored.get("scheduledArrivalTime", Instant.class));
  }

  /** A segment as it is stored. */
  public static Document document(Segment segment) {
    return new Document("_id", segment.id())
        .append("originPort", segment.from())
        .append("destPort", segment.to())
        .append("miles", segment.miles());
  }

  /** A flight as it is stored. */
  public static Document document(Flight flight) {
    return new Document("_id", flight.id())
        .append("firstClassBaseCost", flight.firstClassBaseCost())
        .append("economyClassBaseCost", flight.economyClassBaseCost())
        .append("numFirstClassSeats", flight.numFirstClassSeats())
        .append("numEconomyClassSeats", flight.numEconomyClassSeats())
        .append("airplaneTypeId", flight.airplaneTypeId())
        .append("flightSegmentId", flight.segment().id())
        .append("scheduledDepartureTime", flight.departure())
        .append("scheduledArrivalTime", flight.arrival());
  }
}
