// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AnswersTest {
  private static final String ME = "uid7@email.com";
  private static final String FIRST = "{\"_id\":\"f1\",\"flightSegmentId\":\"AA1\"}";
  private static final String LAST = "{\"_id\":\"f2\",\"flightSegmentId\":\"AA2\"}";
  private static final Trip.Flight F1 = new Trip.Flight("f1", "AA1");
  private static final Trip.Flight F2 = new Trip.Flight("f2", "AA2");

  private static Trip after(Trip trip, String... legs) {
    return trip.after(Answers.found(Airline.query(legs)));
  }

  @Test
  void takesTheLastFlightOfEachLeg() {
    Trip trip = after(Trip.NONE, FIRST + "," + LAST, LAST + "," + FIRST);
    assertEquals(new Trip(true, F2, F1, "false"), trip);
  }

  @Test
  void tripIsOneWayIfNothingFliesBack() {
    Trip trip = after(Trip.NONE, FIRST, "");
    assertEquals(new Trip(true, F1, Trip.Flight.UNKNOWN, "true"), trip);
    assertEquals(new Trip(true, F2, F1, "false"), after(trip, LAST, FIRST));
    assertEquals(trip, after(after(trip, LAST, FIRST), FIRST, ""));
  }

  @Test
  void nothingIsAvailableIfNothingFliesThere() {
    Trip trip = after(after(Trip.NONE, FIRST, ""), "", LAST);
    assertFalse(trip.available());
    assertEquals(F1, trip.there());
  }

  /** Without a second leg nothing is told of the way back. */
  @Test
  void oneLegLeavesTheWayBackAsItWas() {
    assertEquals(new Trip(true, F1, Trip.Flight.UNKNOWN, "null"), after(Trip.NONE, FIRST));
    assertEquals(new Trip(true, F2, F1, "false"), after(after(Trip.NONE, FIRST, FIRST), LAST));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "no flights",
        "{}",
        "{\"tripFlights\":[]}",
        "{\"tripFlights\":{}}",
        "{\"tripFlights\":[{},{}]}",
        "{\"tripFlights\":[{\"flightsOptions\":null}]}",
        "{\"tripFlights\":[{\"flightsOptions\":[{\"_id\":1,\"flightSegmentId\":\"AA1\"}]}]}",
        "{\"tripFlights\":[{\"flightsOptions\":[{\"_id\":\"f1\"}]}]}",
        "{\"tripFlights\":[{\"flightsOptions\":[]},{\"flightsOptions\":[]},{\"flightsOptions\":[]}]}",
      })
  void refusesWrongQueryReplies(String body) {
    assertThrows(WrongAnswer.class, () -> Answers.found(body));
  }

  @Test
  void readsBookingsInOrder() {
    assertEquals(List.of(), Answers.bookings("[]", ME));
    assertEquals(List.of("b", "a"), Answers.bookings(Airline.list(ME, List.of("b", "a")), ME));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{} | the body is not an array of bookings",
        "[1] | a booking has no text _id",
        "[{\"_id\":5,\"customerId\":\"uid7@email.com\"}] | a booking has no text _id",
        "[{\"_id\":\"a\"}] | a booking is not the customer's",
        "[{\"_id\":\"a\",\"customerId\":\"uid8@email.com\"}] | a booking is not the customer's",
        "oops | the body is not JSON",
      })
  void refusesWrongLists(String body, String message) {
    WrongAnswer wrong = assertThrows(WrongAnswer.class, () -> Answers.bookings(body, ME));
    assertEquals(message, wrong.getMessage());
  }

  @Test
  void bookingNamesItsFlights() {
    Answers.booked("{\"oneWay\":true,\"departBookingId\":\"x\"}", true);
    Answers.booked("{\"oneWay\":false,\"returnBookingId\":\"y\",\"departBookingId\":\"x\"}", false);
    for (String body : List.of("", "{}", "{\"departBookingId\":7}", "{\"departBookingId\":\"\"}")) {
      assertThrows(WrongAnswer.class, () -> Answers.booked(body, true), body);
    }
    assertThrows(WrongAnswer.class, () -> Answers.booked("{\"departBookingId\":\"x\"}", false));
  }

  private static Profile profile(int house, int code) {
    return Answers.profile(Airline.CUSTOMER_JSON.formatted(ME, house, code), ME);
  }

  @Test
  void updateMovesOneHouseOnAndSendsAllMembersBack() throws Exception {
    JsonNode sent = profile(123, 27617).moved("password").members();
    JsonNode expected =
        new ObjectMapper()
            .readTree(
                Airline.CUSTOMER_JSON
                    .formatted(ME, 124, 27618)
                    .replace("\"password\":null", "\"password\":\"password\""));
    assertEquals(expected, sent);
    assertEquals(10_000, profile(123, 99_999).moved("password").postalCode());
    assertEquals(99_999, profile(123, 99_998).moved("password").postalCode());
  }

  @Test
  void anUpdateMayBeOvertakenByOneOfTheSameStreet() {
    Profile sent = profile(123, 27617).moved("password");
    for (int house : List.of(122, 123, 124, 125)) {
      assertTrue(sent.isStoredAs(profile(house, 27618)));
      assertEquals(house < 124, sent.isOvertakenBy(profile(house, 27618)));
    }
    assertFalse(sent.isStoredAs(new Profile(sent.members(), 124, "Elm St.", 27618)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{\"_id\":\"uid8@email.com\",\"address\":{\"streetAddress1\":\"1 A\",\"postalCode\":\"1\"}}",
        "{\"_id\":\"uid7@email.com\",\"address\":{\"streetAddress1\":\"Main\",\"postalCode\":\"1\"}}",
        "{\"_id\":\"uid7@email.com\",\"address\":{\"streetAddress1\":\"1 A\",\"postalCode\":\"NW1\"}}",
        "{\"_id\":\"uid7@email.com\",\"address\":null}",
      })
  void refusesWrongProfiles(String body) {
    assertThrows(WrongAnswer.class, () -> Answers.profile(body, ME));
  }

  /** Every step has its own answer, and takes no other. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "LOGIN | logged out | the body is not \"logged in\"",
        "VIEW_PROFILE | {} | the body is not the customer asked for",
        "UPDATE_CUSTOMER | {} | the body is not the customer asked for",
        "QUERY_FLIGHT | {} | the body is not a flight query's reply with one or two legs",
        "BOOK_FLIGHT | {} | the body has no text departBookingId",
        "LIST_BOOKINGS | {} | the body is not an array of bookings",
        "CANCEL_BOOKING | booking b9999 deleted. | the body is not \"booking <id> deleted.\"",
        "LOGOUT | logged in | the body is not \"logged out\"",
      })
  void everyStepChecksItsAnswer(AcmeairStep step, String body, String message) {
    Airline airline = new Airline(new Plan(1, LocalDate.of(2026, 6, 15), 1, true), 1);
    airline.beginNext(step);
    WrongAnswer wrong = assertThrows(WrongAnswer.class, () -> airline.users[0].answer(body));
    assertEquals(message, wrong.getMessage());
  }
}
