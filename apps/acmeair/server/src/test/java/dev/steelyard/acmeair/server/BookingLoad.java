// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steelyard.testkit.Browser;
import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.EndlessLoad;
import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Customers who book flights while a database is killed, and what became of each booking. A booking
 * names a flight that nobody else books, so that one whose answer was lost can be told apart from
 * one that nobody made.
 */
final class BookingLoad {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int CUSTOMERS = 8;

  /** Bookings before the kill, and after the database is back. */
  private static final int BOOKINGS = 150;

  private final PackagedServer monolith;

  /** Flights that were asked for, with the booking that was acknowledged; empty if none was. */
  private final Map<String, String> asked = new ConcurrentHashMap<>();

  /**
   * What was found.
   *
   * @param acknowledged bookings that customers were told of, all of which are there
   * @param unanswered bookings that are there, were asked for, and were not acknowledged
   * @param recovered from when the database took connections until a booking was acknowledged
   */
  record Outcome(int acknowledged, int unanswered, Duration recovered) {}

  private BookingLoad(PackagedServer monolith) {
    this.monolith = monolith;
  }

  /** Books, kills, starts again, books as much again, and checks what is there. */
  static Outcome survives(PackagedServer monolith, EndlessLoad.Target database) throws Exception {
    String loader = "/rest/info/loader/load?numCustomers=" + CUSTOMERS;
    assertEquals(200, monolith.get(loader).statusCode());
    BookingLoad bookings = new BookingLoad(monolith);
    EndlessLoad load = new EndlessLoad(CUSTOMERS, bookings::customer);
    Duration recovered = load.killAndRestart(database, BOOKINGS);
    return bookings.judge(load, recovered);
  }

  private EndlessLoad.Step customer(EndlessLoad load, int number)
      throws IOException, InterruptedException {
    Browser browser = logIn(number);
    int[] count = {0};
    return () -> {
      String flight = number + "-" + count[0]++;
      asked.put(flight, "");
      Answer answer =
          browser.post(
              "rest/api/bookings/bookflights",
              "userid=%s&toFlightId=%s&toFlightSegId=a&oneWayFlight=true"
                  .formatted(id(number), flight));
      if (answer.status() == 200) {
        String booking = JSON.readTree(answer.body()).get("departBookingId").asText();
        asked.put(flight, booking);
        load.acknowledge(booking);
      } else {
        load.refuse(answer);
      }
    };
  }

  private Outcome judge(EndlessLoad load, Duration recovered)
      throws IOException, InterruptedException {
    Set<String> there = new HashSet<>();
    Map<String, String> unanswered = new HashMap<>();
    for (int customer = 0; customer < CUSTOMERS; customer++) {
      Answer list = logIn(customer).get("rest/api/bookings/byuser/" + id(customer));
      for (JsonNode booking : JSON.readTree(list.must("[").body())) {
        String key = booking.get("_id").asText();
        String flight = booking.get("flightId").asText();
        String acknowledged = asked.get(flight);
        assertTrue(there.add(key), key);
        if (!key.equals(acknowledged)) {
          assertEquals("", acknowledged, () -> "nobody asked for " + booking);
          assertEquals(null, unanswered.put(flight, key), () -> "made twice: " + booking);
        }
      }
    }
    load.assertAllThere(there);
    // Of nobody else, either.
    assertEquals(
        Integer.toString(there.size()), monolith.get("/rest/info/config/countBookings").body());
    // Each customer waits for one answer when the database dies.
    assertTrue(unanswered.size() <= CUSTOMERS, unanswered::toString);
    return new Outcome(load.size(), unanswered.size(), recovered);
  }

  private Browser logIn(int customer) throws IOException, InterruptedException {
    Browser browser = new Browser(monolith.uri("/"));
    Answer answer = browser.post("rest/api/login", "login=" + id(customer) + "&password=password");
    assertEquals(200, answer.status(), answer::body);
    return browser;
  }

  private static String id(int customer) {
    return "uid" + customer + "@email.com";
  }
}
