// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.data.FlightLoader;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class FlightServiceTest {

  private static final LocalDate TODAY = LocalDate.of(2026, 6, 15);

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void aFlightIsFoundInBothDirections() {
    List<List<Flight>> found =
        TestData.monolith(database, 1).flights().query(TestData.FRANKFURT_NEW_YORK);

    Segment out = new Segment("AA90", "FRA", "JFK", 3_846);
    assertEquals(List.of(Flight.daily(out, TODAY, ZoneId.of("UTC"), 1)), found.get(0));
    Flight flight = found.get(0).get(0);
    assertEquals(Instant.parse("2026-06-15T00:00:00Z"), flight.departure());
    assertEquals(Instant.parse("2026-06-15T06:24:00Z"), flight.arrival());
    assertEquals(List.of(), found.get(1)); // Eight days later there are none any more.
  }

  @Test
  void flightsAreFoundFromTheDayBeforeToTheLastDayLoaded() {
    FlightService flights = TestData.monolith(database, 1).flights();
    for (int offset = -3; offset < 8; offset++) {
      LocalDate day = TODAY.plusDays(offset);
      int found = query(flights, "LHR", "SIN", day).size();
      assertEquals(offset >= -1 && offset <= 4 ? 1 : 0, found, day.toString());
    }
    // Each query has a way back on the same day, which is found as well.
    assertEquals(22, flights.searches());
    assertEquals(12, flights.successes());
  }

  @Test
  void thereAreNoFlightsFromIndiaNorBetweenUnknownAirports() {
    FlightService flights = TestData.services(database, 1).flights();
    assertEquals(List.of(), query(flights, "BOM", "JFK", TODAY));
    assertEquals(1, query(flights, "JFK", "BOM", TODAY).size());
    assertEquals(List.of(), query(flights, "XXX", "$ne", TODAY));
    assertEquals(List.of(), query(flights, "{\"$ne\":null}", "a.b\0/\"", TODAY));
  }

  @Test
  void aYearsEndIsADayLikeOthers() {
    AcmeAirSettings settings = AcmeAirSettings.read(Map.of("ACMEAIR_TODAY", "2026-12-30"));
    new FlightLoader(database.database(), settings, TestData.CLOCK).load(5);
    FlightService flights = TestData.flights(database, settings.zone());
    assertEquals(1, query(flights, "FRA", "JFK", LocalDate.of(2027, 1, 2)).size());
    assertEquals(0, query(flights, "FRA", "JFK", LocalDate.of(2026, 1, 2)).size());
  }

  @Test
  void midnightIsTheServersWhateverZoneTheTextNames() {
    AcmeAirSettings settings =
        AcmeAirSettings.read(
            Map.of("ACMEAIR_ZONE", "Europe/Berlin", "ACMEAIR_TODAY", "2026-10-24"));
    new FlightLoader(database.database(), settings, TestData.CLOCK).load(5);
    FlightService flights = TestData.flights(database, settings.zone());
    // The clocks go back in the night to the 25th.
    FlightQuery oneWay =
        FlightQuery.of("FRA", "JFK", "Mon Oct 26 00:00:00 AEDT 2026", null, "true");
    assertEquals(
        Instant.parse("2026-10-25T23:00:00Z"), flights.query(oneWay).get(0).get(0).departure());
    assertEquals(1, flights.query(oneWay).size());
    assertEquals(
        Instant.parse("2026-10-24T22:00:00Z"),
        query(flights, "FRA", "JFK", LocalDate.of(2026, 10, 25)).get(0).departure());
  }

  @Test
  void aLoadIsSeenAtOnceAfterTheCachesForget() {
    TestData data = TestData.monolith(database, 1);
    FlightService flights = data.flights();
    List<List<Flight>> before = flights.query(TestData.FRANKFURT_NEW_YORK);
    AcmeAirSettings other = AcmeAirSettings.read(Map.of("ACMEAIR_SEED", "2"));
    new FlightLoader(database.database(), other, TestData.CLOCK).load(5);
    assertEquals(before, flights.query(TestData.FRANKFURT_NEW_YORK));
    flights.forget();
    assertNotEquals(before, flights.query(TestData.FRANKFURT_NEW_YORK));
  }

  @Test
  void flightsAreLookedForUntilThereAreSome() {
    FlightService flights = TestData.flights(database, ZoneId.of("UTC"));
    assertFalse(flights.loaded());
    assertEquals(List.of(), query(flights, "FRA", "JFK", TODAY));
    TestData.services(database, 1);
    assertTrue(flights.loaded());
    flights.forget();
    assertEquals(List.of("aggregate flight"), database.namesOf(flights::loaded));
    assertEquals(List.of(), database.namesOf(flights::loaded));
  }

  @Test
  void milesAreThoseOfTheSegment() {
    FlightService flights = TestData.services(database, 1).flights();
    assertEquals(OptionalInt.of(3_846), flights.miles("AA90"));
    assertEquals(OptionalInt.empty(), flights.miles("AA394"));
    assertEquals(OptionalInt.empty(), flights.miles("null"));
  }

  @Test
  void aQueryNeedsItsFields() {
    for (List<String> fields :
        List.of(
            List.of("", "JFK", "Mon Jun 15 2026", "Mon Jun 15 2026"),
            List.of("FRA", "", "Mon Jun 15 2026", "Mon Jun 15 2026"),
            List.of("FRA", "JFK", "", "Mon Jun 15 2026"),
            List.of("FRA", "JFK", "Mon Jun 15 2026", ""),
            List.of("FRA", "JFK", "Mon Jun 15 2026", "soon"))) {
      assertThrows(
          InvalidInputException.class,
          () -> FlightQuery.of(fields.get(0), fields.get(1), fields.get(2), fields.get(3), "false"),
          fields.toString());
    }
    assertThrows(InvalidInputException.class, () -> FlightQuery.of(null, null, null, null, null));
  }

  /** The flights of the way out. */
  private static List<Flight> query(FlightService flights, String from, String to, LocalDate day) {
    String text =
        DateTimeFormatter.ofPattern("EEE MMM dd 00:00:00 'UTC' yyyy", Locale.ENGLISH).format(day);
    return flights.query(FlightQuery.of(from, to, text, text, "false")).get(0);
  }
}
