// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.steelyard.acmeair.booking.Booking;
import dev.steelyard.acmeair.booking.BookingRepository;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bson.Document;

/** Bookings in their collection: one command for each call. */
@Singleton
public final class MongoBookings implements BookingRepository {

  private static final String CUSTOMER_ID = "customerId";
  private static final String SEGMENT_ID = "flightSegmentId";

  private final MongoCollection<Document> bookings;

  /** Keeps bookings in this database. */
  @Inject
  public MongoBookings(MongoDatabase database) {
    this.bookings = database.getCollection(Collections.BOOKING);
  }

  @Override
  public void add(Booking booking) {
    Document document =
        new Document("_id", booking.id())
            .append(CUSTOMER_ID, booking.customerId())
            .append("flightId", booking.flightId())
            .append("dateOfBooking", booking.date());
    booking.segmentId().ifPresent(segment -> document.append(SEGMENT_ID, segment));
    bookings.insertOne(document);
  }

  @Override
  public Optional<Booking> find(String id) {
    return Optional.ofNullable(bookings.find(Filters.eq(id)).first()).map(MongoBookings::entity);
  }

  @Override
  public List<Booking> byCustomer(String customerId) {
    return bookings
        .find(Filters.eq(CUSTOMER_ID, customerId))
        .map(MongoBookings::entity)
        .into(new ArrayList<>());
  }

  @Override
  public boolean remove(String id) {
    return bookings.deleteMany(Filters.eq(id)).getDeletedCount() > 0;
  }

  private static Booking entity(Document stored) {
    return new Booking(
        stored.getString("_id"),
        stored.getString(CUSTOMER_ID),
        stored.getString("flightId"),
        Optional.ofNullable(stored.getString(SEGMENT_ID)),
        stored.get("dateOfBooking", Instant.class));
  }
}
