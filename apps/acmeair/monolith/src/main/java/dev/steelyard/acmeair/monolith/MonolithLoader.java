// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith;

import dev.steelyard.acmeair.data.BookingLoader;
import dev.steelyard.acmeair.data.CustomerLoader;
import dev.steelyard.acmeair.data.FlightLoader;
import dev.steelyard.acmeair.flight.FlightService;
import dev.steelyard.acmeair.session.SessionService;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;

/** Loads all parts of the data set into the one database of the monolith. */
@Singleton
public final class MonolithLoader {

  private final CustomerLoader customers;
  private final FlightLoader flights;
  private final BookingLoader bookings;
  private final SessionService sessions;
  private final FlightService cachedFlights;
  private volatile int loaded = CustomerLoader.DEFAULT_CUSTOMERS;

  @Inject
  MonolithLoader(
      CustomerLoader customers,
      FlightLoader flights,
      BookingLoader bookings,
      SessionService sessions,
      FlightService cachedFlights) {
    this.customers = customers;
    this.flights = flights;
    this.bookings = bookings;
    this.sessions = sessions;
    this.cachedFlights = cachedFlights;
  }

  /** How many customers the last load made, or would have made before the first. */
  int customers() {
    return loaded;
  }

  /** Replaces all data; a second load waits for the first. */
  synchronized void load(int howMany) {
    sessions.closeAll();
    bookings.clear();
    flights.load(FlightLoader.DEFAULT_DAYS);
    cachedFlights.forget();
    customers.load(howMany, 1_000_000, 1_000);
    loaded = howMany;
  }
}
