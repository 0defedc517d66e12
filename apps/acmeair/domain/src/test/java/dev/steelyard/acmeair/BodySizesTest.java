// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.booking.BookingRequest;
import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.customer.CustomerUpdate;
import dev.steelyard.acmeair.flight.FlightQuery;
import dev.steelyard.acmeair.flight.FlightService;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The sizes of the replies, within 5 % of those of the original. */
final class BodySizesTest {

  private static final String USER = "uid1@email.com";
  private static final String NOWHERE = "BOM";

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void theMonolithsReplies() {
    TestData data = TestData.load(database, Dialect.MONOLITH, 2);
    CustomerService customers = data.customers();
    assertSize(338, customers.profile(USER).orElseThrow());
    assertSize(319, customers.update(USER, update(customers)).orElseThrow());
    assertSize(313, customers.profile(USER).orElseThrow());

    FlightService flights = data.flights();
    assertSize(210, flights.query(query(NOWHERE, "false")));
    assertSize(666, flights.query(query("FRA", "false")));

    assertBookings(data.bookings(), 188);
  }

  @Test
  void theServicesReplies() {
    TestData data = TestData.load(database, Dialect.MICROSERVICES, 2);
    CustomerService customers = data.customers();
    assertSize(311, customers.profile(USER).orElseThrow());
    assertSize(319, customers.update(USER, update(customers)).orElseThrow());
    assertSize(311, customers.profile(USER).orElseThrow());

    FlightService flights = data.flights();
    assertSize(206, flights.query(query(NOWHERE, "false")));
    assertSize(596, flights.query(query("FRA", "false")));
    assertSize(507, flights.query(query("FRA", "true")));

    assertBookings(data.bookings(), 210);
  }

  /**
   * @param entry bytes of a booking and the comma after it: from the longest lists of the original
   *     (4370 bytes are 23 bookings of the monolith, 1893 are 9 of the services)
   */
  private static void assertBookings(BookingService bookings, int entry) {
    assertSize(2, bookings.byCustomer(USER));
    String flight = "0e1f2d3c-4b5a-4968-8776-655443322110";
    String oneWay = bookings.book(BookingRequest.of(USER, flight, "AA90", "null", "null", "true"));
    assertEquals(72, oneWay.length());
    String back = bookings.book(BookingRequest.of(USER, flight, "AA90", flight, "AA91", "false"));
    assertEquals(130, back.length());
    assertSize(3 * entry, bookings.byCustomer(USER));
  }

  private static FlightQuery query(String from, String oneWay) {
    return FlightQuery.of(
        from, "JFK", "Mon Jun 15 00:00:00 UTC 2026", "Tue Jun 23 00:00:00 UTC 2026", oneWay);
  }

  private static CustomerUpdate update(CustomerService customers) {
    return CustomerUpdate.parse(
        customers
            .profile(USER)
            .orElseThrow()
            .replaceFirst("\"password\" ?: null", "\"password\": \"password\""));
  }

  private static void assertSize(int wanted, String text) {
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    assertTrue(Math.abs(bytes - wanted) <= 0.05 * wanted, bytes + " bytes: " + text);
  }
}
