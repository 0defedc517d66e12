// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.booking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import java.util.List;
import java.util.Optional;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class BookingServiceTest {

  private static final String USER = "uid1@email.com";

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void bookingsAreMadeListedAndCancelled(Dialect dialect) {
    BookingService bookings = TestData.load(database, dialect, 2).bookings();
    assertEquals("[]", bookings.byCustomer(USER));

    Document both = Document.parse(bookings.book(request(USER, "false")));
    assertEquals(
        List.of("oneWay", "returnBookingId", "departBookingId"), List.copyOf(both.keySet()));
    Document one = Document.parse(bookings.book(request(USER, "true")));
    assertEquals(List.of("oneWay", "departBookingId"), List.copyOf(one.keySet()));
    bookings.book(request("uid2@email.com", "true"));

    List<Document> listed = list(bookings, USER);
    assertEquals(
        List.of(
            both.getString("departBookingId"),
            both.getString("returnBookingId"),
            one.getString("departBookingId")),
        listed.stream().map(booking -> booking.getString("_id")).toList());
    assertEquals(
        dialect == Dialect.MONOLITH
            ? List.of("_id", "customerId", "flightId", "dateOfBooking")
            : List.of("_id", "customerId", "flightId", "flightSegmentId", "dateOfBooking"),
        List.copyOf(listed.get(0).keySet()));
    assertEquals("Mon Jun 15 10:11:12 UTC 2026", listed.get(0).getString("dateOfBooking"));
    assertEquals("flight2", listed.get(1).getString("flightId"));

    bookings.cancel(USER, both.getString("departBookingId"));
    assertEquals(2, list(bookings, USER).size());
    assertEquals(1, list(bookings, "uid2@email.com").size());
  }

  @Test
  void servicesLearnWhoseMilesToTakeBackOnlyOnce() {
    BookingService bookings = TestData.load(database, Dialect.MICROSERVICES, 2).bookings();
    String id = Document.parse(bookings.book(request(USER, "true"))).getString("departBookingId");

    assertEquals(Optional.empty(), bookings.cancel("uid2@email.com", id));
    assertEquals(1, list(bookings, USER).size());
    assertEquals(Optional.of("AA1"), bookings.cancel(USER, id));
    assertEquals(Optional.empty(), bookings.cancel(USER, id));
    assertEquals(Optional.empty(), bookings.cancel(USER, "{\"$gt\": \"\"}"));
    assertEquals("[]", bookings.byCustomer(USER));
  }

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void idsAreDataWhateverTheyLookLike(Dialect dialect) {
    BookingService bookings = TestData.load(database, dialect, 2).bookings();
    String odd = "{\"$gt\": \"\"} \\ ' \" / . \0 \n \u20ac";
    bookings.book(BookingRequest.of("uid1@email.com", odd, odd, "null", "null", "true"));
    assertEquals(odd, list(bookings, USER).get(0).getString("flightId"));
    for (String user : List.of("$ne", "{\"$ne\": null}", "uid1@email.com\0", ".*", "")) {
      assertEquals("[]", bookings.byCustomer(user));
      bookings.cancel(user, user);
    }
    assertEquals(1, list(bookings, USER).size());
  }

  @Test
  void aRequestNeedsItsFields() {
    assertEquals(1, BookingRequest.of(USER, "null", "null", null, null, "true").legs().size());
    for (String[] fields :
        new String[][] {
          {null, "f", "s", "f", "s", "true"},
          {USER, null, "s", "f", "s", "true"},
          {USER, "f", "", "f", "s", "true"},
          {USER, "f", "s", null, "s", "false"},
          {USER, "f", "s", "f", null, null},
        }) {
      InvalidInputException refused =
          assertThrows(
              InvalidInputException.class,
              () ->
                  BookingRequest.of(
                      fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]));
      assertTrue(refused.getMessage().endsWith("is missing."), refused.getMessage());
    }
  }

  private static BookingRequest request(String user, String oneWay) {
    return BookingRequest.of(user, "flight1", "AA1", "flight2", "AA2", oneWay);
  }

  private static List<Document> list(BookingService bookings, String user) {
    return Document.parse("{\"list\": " + bookings.byCustomer(user) + "}")
        .getList("list", Document.class);
  }
}
