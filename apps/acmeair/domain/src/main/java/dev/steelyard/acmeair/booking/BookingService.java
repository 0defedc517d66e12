// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.booking;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.data.Collections;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.bson.Document;

/** Bookings: made, listed, cancelled. Nothing is reserved and no flight is looked up. */
public final class BookingService {

  private static final String CUSTOMER_ID = "customerId";
  private static final String SEGMENT_ID = "flightSegmentId";
  private static final String DATE = "dateOfBooking";

  private final MongoCollection<Document> bookings;
  private final Dialect dialect;
  private final DateTexts dates;
  private final Clock clock;

  /**
   * Keeps bookings in this database.
   *
   * @param dates how dates are set
   * @param clock tells when a booking is made
   */
  public BookingService(MongoDatabase database, Dialect dialect, DateTexts dates, Clock clock) {
    this.bookings = database.getCollection(Collections.BOOKING);
    this.dialect = dialect;
    this.dates = dates;
    this.clock = clock;
  }

  /**
   * Makes a booking for each leg: one insert each.
   *
   * @return the reply, JSON: {@code oneWay}, {@code returnBookingId} if there is a way back, {@code
   *     departBookingId}
   */
  public String book(BookingRequest request) {
    Document reply = new Document("oneWay", request.oneWay());
    String depart = insert(request.customerId(), request.legs().get(0));
    if (!request.oneWay()) {
      reply.append("returnBookingId", insert(request.customerId(), request.legs().get(1)));
    }
    return JsonStyle.COMPACT.print(reply.append("departBookingId", depart));
  }

  private String insert(String customerId, BookingRequest.Leg leg) {
    String id = UUID.randomUUID().toString();
    Document booking =
        new Document("_id", id)
            .append(CUSTOMER_ID, customerId)
            .append("flightId", leg.flightId())
            .append(DATE, clock.instant());
    if (dialect.bookingsNameSegment()) {
      booking.append(SEGMENT_ID, leg.segmentId());
    }
    bookings.insertOne(booking);
    return id;
  }

  /** The bookings of a customer, JSON: an array, empty if there are none. One find. */
  public String byCustomer(String customerId) {
    List<String> texts = new ArrayList<>();
    bookings.find(Filters.eq(CUSTOMER_ID, customerId)).forEach(booking -> texts.add(text(booking)));
    return dialect.style().array(texts);
  }

  private String text(Document booking) {
    booking.put(DATE, booking.remove(DATE)); // Stored before the segment, sent after it.
    return dialect.style().print(booking, dates::format);
  }

  /**
   * Cancels a booking: one delete, before which services find it, to know its segment. An unknown
   * booking is none to cancel and no error; nor is, where it is found first, somebody else's.
   *
   * @param customerId whose booking it must be
   * @param bookingId the booking
   * @return the segment whose miles are to be taken back, where bookings keep it
   */
  public Optional<String> cancel(String customerId, String bookingId) {
    if (!dialect.bookingsNameSegment()) {
      bookings.deleteMany(Filters.eq(bookingId));
      return Optional.empty();
    }
    Document booking = bookings.find(Filters.eq(bookingId)).first();
    if (booking == null || !customerId.equals(booking.getString(CUSTOMER_ID))) {
      return Optional.empty();
    }
    // Of two that cancel at once, only the one that removed it takes back the miles.
    return bookings.deleteMany(Filters.eq(bookingId)).getDeletedCount() == 0
        ? Optional.empty()
        : Optional.ofNullable(booking.getString(SEGMENT_ID));
  }
}
