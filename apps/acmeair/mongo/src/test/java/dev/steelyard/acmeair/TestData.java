// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.data.BookingLoader;
import dev.steelyard.acmeair.data.CustomerLoader;
import dev.steelyard.acmeair.data.FlightLoader;
import dev.steelyard.acmeair.flight.CachedFlights;
import dev.steelyard.acmeair.flight.FlightQuery;
import dev.steelyard.acmeair.flight.FlightService;
import dev.steelyard.acmeair.json.BookingTexts;
import dev.steelyard.acmeair.json.CustomerTexts;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.mongo.MongoBookings;
import dev.steelyard.acmeair.mongo.MongoCustomers;
import dev.steelyard.acmeair.mongo.MongoFlights;
import dev.steelyard.acmeair.mongo.MongoSessions;
import dev.steelyard.acmeair.session.SessionService;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;

/** The parts of the domain on a test's database, with the default settings and a fixed clock. */
public final class TestData {

  /** The default loading day's flights, from Frankfurt to New York and back. */
  public static final FlightQuery FRANKFURT_NEW_YORK =
      FlightQuery.of(
          "FRA", "JFK", "Mon Jun 15 00:00:00 UTC 2026", "Tue Jun 23 00:00:00 UTC 2026", "false");

  public static final AcmeAirSettings SETTINGS = AcmeAirSettings.read(Map.of());
  public static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-06-15T10:11:12Z"), ZoneOffset.UTC);

  private final TestDatabase database;
  private final JsonStyle style;

  private TestData(TestDatabase database, JsonStyle style) {
    this.database = database;
    this.style = style;
  }

  /** Loads customers, five days of flights, and no bookings; texts in the monolith's style. */
  public static TestData monolith(TestDatabase database, int customers) {
    return load(database, JsonStyle.WIDE, customers, 1_000_000, 1_000);
  }

  /** The same in the services' style. */
  public static TestData services(TestDatabase database, int customers) {
    return load(database, JsonStyle.RELAXED, customers, 0, 0);
  }

  private static TestData load(
      TestDatabase database, JsonStyle style, int customers, int miles, int milesThisYear) {
    new CustomerLoader(database.database()).load(customers, miles, milesThisYear);
    new FlightLoader(database.database(), SETTINGS, CLOCK).load(FlightLoader.DEFAULT_DAYS);
    new BookingLoader(database.database(), SETTINGS).clear();
    return new TestData(database, style);
  }

  /** Flights of a database, remembered. */
  public static FlightService flights(TestDatabase database, ZoneId zone) {
    return new FlightService(new CachedFlights(new MongoFlights(database.database(), zone)));
  }

  public FlightService flights() {
    return flights(database, SETTINGS.zone());
  }

  public CustomerService customers() {
    return new CustomerService(new MongoCustomers(database.database()));
  }

  public BookingService bookings() {
    return new BookingService(new MongoBookings(database.database()), CLOCK);
  }

  public SessionService sessions() {
    return new SessionService(new MongoSessions(database.database()), CLOCK);
  }

  /** A customer as the resources show it. */
  public String profile(String id) {
    return CustomerTexts.profile(customers().profile(id).orElseThrow(), style);
  }

  /** A profile as drivers send it back. */
  public Customer sent(String id) {
    return CustomerTexts.parse(
        profile(id).replaceFirst("\"password\" ?: null ?}", "\"password\": \"password\"}"));
  }

  /** A customer's bookings as the resources show them. */
  public String list(String customer) {
    return new BookingTexts(style, new DateTexts(SETTINGS.zone()))
        .list(bookings().byCustomer(customer));
  }
}
