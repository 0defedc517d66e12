// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.booking.BookingRequest;
import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.json.BookingTexts;
import dev.steelyard.acmeair.json.CustomerTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The sizes of the replies, within 5 % of those of the original. */
final class BodySizesTest {

  private static final String USER = "uid1@email.com";

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void theMonolithsReplies() {
    TestData data = TestData.monolith(database, 2);
    assertSize(338, data.profile(USER));
    Customer stored = data.customers().update(data.sent(USER).withoutEmptyLine()).orElseThrow();
    assertSize(319, CustomerTexts.stored(stored, null, JsonStyle.WIDE));
    assertSize(313, data.profile(USER));

    assertBookings(data, 188, BookingRequest::withoutSegments);
  }

  @Test
  void theServicesReplies() {
    TestData data = TestData.services(database, 2);
    assertSize(311, data.profile(USER));
    Customer stored = data.customers().update(data.sent(USER)).orElseThrow();
    assertSize(319, CustomerTexts.stored(stored, null, JsonStyle.RELAXED));
    assertSize(311, data.profile(USER));

    assertBookings(data, 210, request -> request);
  }

  /**
   * @param entry bytes of a booking and the comma after it: from the longest lists of the original
   *     (4370 bytes are 23 bookings of the monolith, 1893 are 9 of the services)
   */
  private static void assertBookings(TestData data, int entry, UnaryOperator<BookingRequest> kept) {
    assertSize(2, data.list(USER));
    String flight = "0e1f2d3c-4b5a-4968-8776-655443322110";
    BookingRequest oneWay = BookingRequest.of(USER, flight, "AA90", "null", "null", "true");
    BookingRequest back = BookingRequest.of(USER, flight, "AA90", flight, "AA91", "false");
    BookingService bookings = data.bookings();
    assertEquals(72, BookingTexts.made(oneWay, bookings.book(kept.apply(oneWay))).length());
    assertEquals(130, BookingTexts.made(back, bookings.book(kept.apply(back))).length());
    assertSize(3 * entry, data.list(USER));
  }

  private static void assertSize(int wanted, String text) {
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    assertTrue(Math.abs(bytes - wanted) <= 0.05 * wanted, bytes + " bytes: " + text);
  }
}
