// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.booking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.json.BookingTexts;
import java.util.List;
import java.util.Optional;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class BookingServiceTest {

  private static final String USER = "uid1@email.com";

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void bookingsAreMadeListedAndCancelled() {
    TestData data = TestData.services(database, 2);
    BookingService bookings = data.bookings();
    assertEquals("[]", data.list(USER));

    List<String> both = bookings.book(request(USER, "false"));
    List<String> one = bookings.book(request(USER, "true").withoutSegments());
    bookings.book(request("uid2@email.com", "true"));

    List<Document> listed = list(data, USER);
    assertEquals(
        List.of(both.get(0), both.get(1), one.get(0)),
        listed.stream().map(booking -> booking.getString("_id")).toList());
    assertEquals(
        List.of("_id", "customerId", "flightId", "flightSegmentId", "dateOfBooking"),
        List.copyOf(listed.get(0).keySet()));
    assertEquals(
        List.of("_id", "customerId", "flightId", "dateOfBooking"),
        List.copyOf(listed.get(2).keySet()));
    assertEquals("Mon Jun 15 10:11:12 UTC 2026", listed.get(0).getString("dateOfBooking"));
    assertEquals("flight2", listed.get(1).getString("flightId"));

    bookings.cancel(both.get(0));
    assertEquals(2, list(data, USER).size());
    assertEquals(1, list(data, "uid2@email.com").size());
  }

  @Test
  void aReplyTellsTheIdsOfWhatWasBooked() {
    assertEquals(
        "{\"oneWay\":false,\"returnBookingId\":\"b\",\"departBookingId\":\"a\"}",
        BookingTexts.made(request(USER, "false"), List.of("a", "b")));
    assertEquals(
        "{\"oneWay\":true,\"departBookingId\":\"a\"}",
        BookingTexts.made(request(USER, "true"), List.of("a")));
  }

  @Test
  void servicesLearnWhoseMilesToTakeBackOnlyOnce() {
    TestData data = TestData.services(database, 2);
    BookingService bookings = data.bookings();
    String id = bookings.book(request(USER, "true")).get(0);

    assertEquals(Optional.empty(), bookings.cancelOwn("uid2@email.com", id));
    assertEquals(1, list(data, USER).size());
    assertEquals(Optional.of("AA1"), bookings.cancelOwn(USER, id));
    assertEquals(Optional.empty(), bookings.cancelOwn(USER, id));
    assertEquals(Optional.empty(), bookings.cancelOwn(USER, "{\"$gt\": \"\"}"));
    assertEquals("[]", data.list(USER));
  }

  @Test
  void idsAreDataWhateverTheyLookLike() {
    TestData data = TestData.services(database, 2);
    BookingService bookings = data.bookings();
    String odd = "{\"$gt\": \"\"} \\ ' \" / . \0 \n \u20ac";
    bookings.book(BookingRequest.of("uid1@email.com", odd, odd, "null", "null", "true"));
    assertEquals(odd, list(data, USER).get(0).getString("flightId"));
    for (String user : List.of("$ne", "{\"$ne\": null}", "uid1@email.com\0", ".*", "")) {
      assertEquals("[]", data.list(user));
      bookings.cancel(user);
      bookings.cancelOwn(user, user);
    }
    assertEquals(1, list(data, USER).size());
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

  private static List<Document> list(TestData data, String user) {
    return Document.parse("{\"list\": " + data.list(user) + "}").getList("list", Document.class);
  }
}
