// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.booking.BookingRequest;
import dev.steelyard.acmeair.booking.BookingService;
import dev.steelyard.acmeair.customer.Customer;
import dev.steelyard.acmeair.customer.CustomerService;
import dev.steelyard.acmeair.flight.FlightService;
import dev.steelyard.acmeair.mongo.Counts;
import dev.steelyard.acmeair.mongo.MongoFlights;
import dev.steelyard.acmeair.session.SessionService;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The commands of each operation, by number and shape, as the original issues them. */
final class CommandsTest {

  private static final String USER = "uid1@email.com";

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void theMonolithIssuesWhatTheOriginalDoes() {
    TestData data = TestData.monolith(database, 3);
    CustomerService customers = data.customers();
    Customer sent = data.sent(USER);
    BookingService bookings = data.bookings();
    SessionService sessions = data.sessions();

    assertEquals(
        List.of("find customer", "insert customerSession"),
        database.namesOf(
            () -> {
              assertTrue(customers.validate(USER, "password"));
              sessions.open(USER);
            }));
    String session = sessions.open(USER);
    assertEquals(
        List.of("find customerSession", "find customer"),
        database.namesOf(
            () ->
                assertTrue(sessions.customerOf(session).flatMap(customers::profile).isPresent())));
    assertEquals(
        List.of("find customer", "update customer", "find customer"),
        database.namesOf(() -> customers.update(sent)));
    assertEquals(List.of("insert booking"), database.namesOf(() -> bookings.book(request("true"))));
    assertEquals(
        List.of("insert booking", "insert booking"),
        database.namesOf(() -> bookings.book(request("false"))));
    assertEquals(List.of("find booking"), database.namesOf(() -> bookings.byCustomer(USER)));
    assertEquals(List.of("delete booking"), database.namesOf(() -> bookings.cancel("unknown")));
    assertEquals(
        List.of("delete customerSession"), database.namesOf(() -> sessions.close(session)));
    assertEquals(
        List.of("count booking"),
        database.namesOf(() -> new Counts(database.database()).known("booking")));
  }

  @Test
  void theServicesIssueWhatTheOriginalDo() {
    TestData data = TestData.services(database, 3);
    CustomerService customers = data.customers();
    Customer sent = data.sent(USER);
    BookingService bookings = data.bookings();

    assertEquals(
        List.of("aggregate customer", "find customer"),
        database.namesOf(
            () -> assertTrue(customers.loaded() && customers.validate(USER, "password"))));
    assertTrue(customers.loaded());
    assertEquals(
        List.of("find customer"), database.namesOf(() -> customers.validate(USER, "password")));
    assertEquals(List.of("find customer"), database.namesOf(() -> customers.profile(USER)));
    assertEquals(
        List.of("find customer", "update customer", "find customer"),
        database.namesOf(() -> customers.update(sent)));
    assertEquals(
        List.of("find customer", "update customer"),
        database.namesOf(() -> customers.addMiles(USER, 100)));
    assertEquals(List.of("insert booking"), database.namesOf(() -> bookings.book(request("true"))));
    String booking = database.database().getCollection("booking").find().first().getString("_id");
    assertEquals(
        List.of("find booking", "delete booking"),
        database.namesOf(() -> bookings.cancelOwn(USER, booking)));
    assertEquals(
        List.of("find booking"), database.namesOf(() -> bookings.cancelOwn(USER, booking)));
  }

  @Test
  void queriesAskTheDatabaseOnlyOnce() {
    FlightService flights = TestData.monolith(database, 1).flights();
    Runnable query = () -> flights.query(TestData.FRANKFURT_NEW_YORK);

    assertEquals(
        List.of("find flightSegment", "find flight", "find flightSegment", "find flight"),
        database.namesOf(query));
    assertEquals(List.of(), database.namesOf(query));
    flights.forget();
    assertEquals(4, database.namesOf(query).size());
    assertEquals(List.of("find flightSegment"), database.namesOf(() -> flights.miles("AA1")));
    assertEquals(List.of(), database.namesOf(() -> flights.miles("AA1")));
  }

  @Test
  void withoutCachesEachQueryAsksTheDatabase() {
    TestData.services(database, 1);
    FlightService flights =
        new FlightService(new MongoFlights(database.database(), TestData.SETTINGS.zone()));
    Runnable query = () -> flights.query(TestData.FRANKFURT_NEW_YORK);

    for (int i = 0; i < 2; i++) {
      assertEquals(
          List.of("find flightSegment", "find flight", "find flightSegment", "find flight"),
          database.namesOf(query));
    }
  }

  @Test
  void commandsHaveTheShapesOfTheOriginals() {
    TestData data = TestData.monolith(database, 3);
    CustomerService customers = data.customers();
    Customer sent = data.sent(USER);
    List<BsonDocument> update = database.commandsOf(() -> customers.update(sent));
    BsonDocument find = update.get(0);
    assertEquals(1, find.getNumber("limit").intValue());
    assertTrue(find.getBoolean("singleBatch").getValue());
    assertEquals("{\"_id\": \"" + USER + "\"}", find.getDocument("filter").toJson());

    BsonDocument set = update.get(1).getArray("updates").get(0).asDocument();
    assertEquals(
        Set.of("status", "total_miles", "miles_ytd", "address", "phoneNumber", "phoneNumberType"),
        set.getDocument("u").getDocument("$set").keySet());

    BsonDocument list = database.commandsOf(() -> data.bookings().byCustomer(USER)).get(0);
    assertFalse(list.containsKey("limit"));
    assertEquals("{\"customerId\": \"" + USER + "\"}", list.getDocument("filter").toJson());

    Function<Runnable, BsonDocument> deletion =
        action -> database.commandsOf(action).get(0).getArray("deletes").get(0).asDocument();
    for (BsonDocument delete :
        List.of(
            deletion.apply(() -> data.bookings().cancel("x")),
            deletion.apply(() -> data.sessions().close("x")))) {
      assertEquals("{\"q\": {\"_id\": \"x\"}, \"limit\": 0}", delete.toJson());
    }
  }

  @Test
  void loadingWritesInFewCommands() {
    List<String> commands = database.namesOf(() -> TestData.monolith(database, 2_500));

    assertEquals(3, commands.stream().filter("insert customer"::equals).count());
    assertEquals(3, commands.stream().filter("insert flight"::equals).count());
    assertTrue(
        commands.stream().noneMatch(command -> command.startsWith("createIndexes")),
        commands.stream().collect(Collectors.joining(", ")));
  }

  private static BookingRequest request(String oneWay) {
    return BookingRequest.of(USER, "flight", "AA1", "flight2", "AA2", oneWay);
  }
}
