// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.NotLoadedException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.data.FlightLoader;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class FlightServiceTest {

  private static final LocalDate TODAY = LocalDate.of(2026, 6, 15);

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void aReplyHasBothLegsAndTheirMembersInOrder(Dialect dialect) {
    Document reply = query(TestData.load(database, dialect, 1).flights(), "FRA", "JFK", TODAY);

    assertEquals(List.of("tripFlights", "tripLegs"), List.copyOf(reply.keySet()));
    assertEquals(2, reply.getInteger("tripLegs"));
    List<Document> legs = reply.getList("tripFlights", Document.class);
    for (Document leg : legs) {
      assertEquals(
          List.of("numPages", "flightsOptions", "currentPage", "hasMoreOptions", "pageSize"),
          List.copyOf(leg.keySet()));
    }
    Document option = options(reply, 0).get(0);
    assertEquals(
        List.of(
            "_id",
            "firstClassBaseCost",
            "economyClassBaseCost",
            "numFirstClassSeats",
            "numEconomyClassSeats",
            "airplaneTypeId",
            "flightSegmentId",
            "scheduledDepartureTime",
            "scheduledArrivalTime",
            "flightSegment"),
        List.copyOf(option.keySet()));
    assertEquals("Mon Jun 15 00:00:00 UTC 2026", option.getString("scheduledDepartureTime"));
    assertEquals("Mon Jun 15 06:24:00 UTC 2026", option.getString("scheduledArrivalTime"));
    Document segment = option.get("flightSegment", Document.class);
    assertEquals(option.getString("flightSegmentId"), segment.getString("_id"));
    assertEquals("FRA", segment.getString("originPort"));
    assertEquals(
        "JFK",
        options(reply, 1).get(0).get("flightSegment", Document.class).getString("originPort"));
  }

  @Test
  void theMonolithSetsTheSegmentInItsOwnWay() {
    FlightService flights = TestData.load(database, Dialect.MONOLITH, 1).flights();
    String reply = flights.query(TestData.FRANKFURT_NEW_YORK);
    assertTrue(
        reply.contains(
            "\"flightSegment\" : { \"destPort\" : \"JFK\", \"originPort\" : \"FRA\","
                + " \"_id\" : \"AA90\", \"miles\" : { \"$numberLong\" : \"3846\" } } }],"),
        reply);
    assertTrue(reply.startsWith("{\"tripFlights\":[{\"numPages\":1,\"flightsOptions\":[{ "), reply);
  }

  @Test
  void theServicesReplyHasNoBlanksAndMilesAreNumbers() {
    FlightService flights = TestData.load(database, Dialect.MICROSERVICES, 1).flights();
    String reply = flights.query(TestData.FRANKFURT_NEW_YORK);
    assertTrue(
        reply.contains(
            "\"flightSegment\":{\"_id\":\"AA90\",\"originPort\":\"FRA\","
                + "\"destPort\":\"JFK\",\"miles\":3846}}]"),
        reply);
  }

  @Test
  void flightsAreFoundFromTheDayBeforeToTheLastDayLoaded() {
    FlightService flights = TestData.load(database, Dialect.MONOLITH, 1).flights();
    for (int offset = -3; offset < 8; offset++) {
      LocalDate day = TODAY.plusDays(offset);
      Document reply = query(flights, "LHR", "SIN", day);
      assertEquals(offset >= -1 && offset <= 4 ? 1 : 0, options(reply, 0).size(), day.toString());
    }
    // Each query has a way back on the same day, which is found as well.
    assertEquals(22, flights.searches());
    assertEquals(12, flights.successes());
  }

  @Test
  void thereAreNoFlightsFromIndiaNorBetweenUnknownAirports() {
    FlightService flights = TestData.load(database, Dialect.MICROSERVICES, 1).flights();
    assertEquals(List.of(), options(query(flights, "BOM", "JFK", TODAY), 0));
    assertEquals(1, options(query(flights, "JFK", "BOM", TODAY), 0).size());
    assertEquals(List.of(), options(query(flights, "XXX", "$ne", TODAY), 0));
    assertEquals(List.of(), options(query(flights, "{\"$ne\":null}", "a.b\0/\"", TODAY), 0));
  }

  @Test
  void aYearsEndIsADayLikeOthers() {
    AcmeAirSettings settings = AcmeAirSettings.read(Map.of("ACMEAIR_TODAY", "2026-12-30"));
    new FlightLoader(database.database(), settings, TestData.CLOCK).load(5);
    FlightService flights =
        new FlightService(database.database(), Dialect.MONOLITH, settings.zone(), true);
    assertEquals(1, options(query(flights, "FRA", "JFK", LocalDate.of(2027, 1, 2)), 0).size());
    assertEquals(0, options(query(flights, "FRA", "JFK", LocalDate.of(2026, 1, 2)), 0).size());
  }

  @Test
  void midnightIsTheServersWhateverZoneTheTextNames() {
    AcmeAirSettings settings =
        AcmeAirSettings.read(
            Map.of("ACMEAIR_ZONE", "Europe/Berlin", "ACMEAIR_TODAY", "2026-10-24"));
    new FlightLoader(database.database(), settings, TestData.CLOCK).load(5);
    FlightService flights =
        new FlightService(database.database(), Dialect.MONOLITH, settings.zone(), true);
    // The clocks go back in the night to the 25th.
    Document reply =
        Document.parse(
            flights.query(
                FlightQuery.of("FRA", "JFK", "Mon Oct 26 00:00:00 AEDT 2026", null, "true")));
    assertEquals(
        "Mon Oct 26 00:00:00 CET 2026",
        options(reply, 0).get(0).getString("scheduledDepartureTime"));
    assertEquals(1, reply.getInteger("tripLegs"));
    reply = query(flights, "FRA", "JFK", LocalDate.of(2026, 10, 25));
    assertEquals(
        "Sun Oct 25 00:00:00 CEST 2026",
        options(reply, 0).get(0).getString("scheduledDepartureTime"));
  }

  @Test
  void aLoadIsSeenAtOnceAfterTheCachesForget() {
    TestData data = TestData.load(database, Dialect.MONOLITH, 1);
    FlightService flights = data.flights();
    String before = flights.query(TestData.FRANKFURT_NEW_YORK);
    AcmeAirSettings other = AcmeAirSettings.read(Map.of("ACMEAIR_SEED", "2"));
    new FlightLoader(database.database(), other, TestData.CLOCK).load(5);
    assertEquals(before, flights.query(TestData.FRANKFURT_NEW_YORK));
    flights.forget();
    assertNotEquals(before, flights.query(TestData.FRANKFURT_NEW_YORK));
  }

  @Test
  void withoutDataServicesSaySoAndTheMonolithFindsNothing() {
    FlightService services =
        new FlightService(database.database(), Dialect.MICROSERVICES, ZoneId.of("UTC"), true);
    assertThrows(NotLoadedException.class, () -> services.query(TestData.FRANKFURT_NEW_YORK));
    FlightService monolith =
        new FlightService(database.database(), Dialect.MONOLITH, ZoneId.of("UTC"), true);
    assertEquals(List.of(), options(query(monolith, "FRA", "JFK", TODAY), 0));
  }

  @Test
  void milesAreThoseOfTheSegment() {
    FlightService flights = TestData.load(database, Dialect.MICROSERVICES, 1).flights();
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

  private static Document query(FlightService flights, String from, String to, LocalDate day) {
    String text =
        DateTimeFormatter.ofPattern("EEE MMM dd 00:00:00 'UTC' yyyy", Locale.ENGLISH).format(day);
    return Document.parse(flights.query(FlightQuery.of(from, to, text, text, "false")));
  }

  private static List<Document> options(Document reply, int leg) {
    return reply
        .getList("tripFlights", Document.class)
        .get(leg)
        .getList("flightsOptions", Document.class);
  }
}
