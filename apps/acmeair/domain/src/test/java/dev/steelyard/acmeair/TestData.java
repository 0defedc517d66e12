// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.data.BookingLoader;
import dev.steelyard.acmeair.data.CustomerLoader;
import dev.steelyard.acmeair.data.FlightLoader;
import dev.steelyard.acmeair.flight.FlightQuery;
import dev.steelyard.acmeair.flight.FlightService;
import dev.steelyard.acmeair.json.DateTexts;
import dev.steelyard.acmeair.session.SessionService;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.time.Clock;
import java.time.Instant;
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
  private final Dialect dialect;

  TestData(TestDatabase database, Dialect dialect) {
    this.database = database;
    this.dialect = dialect;
  }

  /** Loads customers, five days of flights, and no bookings. */
  public static TestData load(TestDatabase database, Dialect dialect, int customers) {
    new CustomerLoader(database.database(), dialect).load(customers);
    new FlightLoader(database.database(), SETTINGS, CLOCK).load(FlightLoader.DEFAULT_DAYS);
    new BookingLoader(database.database(), SETTINGS).clear();
    return new TestData(database, dialect);
  }

  public CustomerService customers() {
    return new CustomerService(database.database(), dialect);
  }

  public FlightService flights() {
    return new FlightService(database.database(), dialect, SETTINGS.zone(), SETTINGS.caching());
  }

  public BookingService bookings() {
    return new BookingService(database.database(), dialect, new DateTexts(SETTINGS.zone()), CLOCK);
  }

  public SessionService sessions() {
    return new SessionService(database.database(), CLOCK);
  }
}
