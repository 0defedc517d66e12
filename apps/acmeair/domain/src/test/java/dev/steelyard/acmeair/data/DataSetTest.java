// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class DataSetTest {

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void theSameSettingsMakeTheSameDataAndHash() {
    assertEquals(Optional.empty(), hash());
    TestData.load(database, Dialect.MONOLITH, 1_500);
    Optional<String> hash = hash();
    List<Document> documents = documents();
    assertTrue(hash.orElseThrow().matches("[0-9a-f]{16}"), hash.toString());
    assertEquals(31 + 394 + 2_364 + 1_500, documents.size());

    TestData.load(database, Dialect.MONOLITH, 1_500);
    assertEquals(documents, documents());
    assertEquals(hash, hash());
    // Known: what makes another data set of the same settings must be a new version.
    assertEquals("c9a76ab29d56bd1b", hash.orElseThrow());
  }

  @Test
  void whatMakesOtherDataMakesAnotherHash() {
    List<String> hashes = new ArrayList<>();
    hashes.add(loaded(Dialect.MONOLITH, Map.of(), 100, 5));
    hashes.add(loaded(Dialect.MICROSERVICES, Map.of(), 100, 5));
    hashes.add(loaded(Dialect.MONOLITH, Map.of(), 101, 5));
    hashes.add(loaded(Dialect.MONOLITH, Map.of(), 100, 6));
    hashes.add(loaded(Dialect.MONOLITH, Map.of("ACMEAIR_SEED", "2"), 100, 5));
    hashes.add(loaded(Dialect.MONOLITH, Map.of("ACMEAIR_TODAY", "2026-06-16"), 100, 5));
    hashes.add(loaded(Dialect.MONOLITH, Map.of("ACMEAIR_ZONE", "Asia/Tokyo"), 100, 5));
    assertEquals(hashes.size(), hashes.stream().distinct().count(), hashes.toString());
    assertEquals(
        hashes.get(0), loaded(Dialect.MONOLITH, Map.of("ACMEAIR_INDEXES", "secondary"), 100, 5));
  }

  @Test
  void todayMayBeTheSystems() {
    AcmeAirSettings settings = AcmeAirSettings.read(Map.of("ACMEAIR_TODAY", "system"));
    Clock tomorrow = Clock.offset(TestData.CLOCK, Duration.ofDays(1));
    new FlightLoader(database.database(), settings, TestData.CLOCK).load(5);
    Optional<String> today = hash();
    new FlightLoader(database.database(), settings, tomorrow).load(5);
    assertNotEquals(today, hash());
    new FlightLoader(database.database(), TestData.SETTINGS, tomorrow).load(5);
    assertEquals(today, hash());
  }

  @Test
  void countsDoNotSeeTheNotesOfTheLoaders() {
    TestData.load(database, Dialect.MONOLITH, 10);
    for (Dialect dialect : Dialect.values()) {
      Counts counts = new Counts(database.database(), dialect);
      assertEquals(10, counts.of(Collections.CUSTOMER));
      assertEquals(2_364, counts.of(Collections.FLIGHT));
      assertEquals(394, counts.of(Collections.SEGMENT));
      assertEquals(31, counts.of(Collections.AIRPORT));
      assertEquals(0, counts.of(Collections.BOOKING));
    }
  }

  @Test
  void bookingsAreClearedAndIndexesMadeOnlyOnDemand() {
    TestData data = TestData.load(database, Dialect.MONOLITH, 1);
    database.database().getCollection(Collections.BOOKING).insertOne(new Document("_id", "x"));

    AcmeAirSettings indexed = AcmeAirSettings.read(Map.of("ACMEAIR_INDEXES", "secondary"));
    new BookingLoader(database.database(), indexed).clear();
    new FlightLoader(database.database(), indexed, TestData.CLOCK).load(5);
    assertEquals(List.of("_id_", "customerId_1"), indexes(Collections.BOOKING));
    assertEquals(List.of("_id_", "originPort_1_destPort_1"), indexes(Collections.SEGMENT));
    assertEquals(List.of("_id_", "flightSegmentId_1"), indexes(Collections.FLIGHT));
    assertEquals("[]", data.bookings().byCustomer("x"));
    assertEquals(0, new Counts(database.database(), Dialect.MONOLITH).of(Collections.BOOKING));

    TestData.load(database, Dialect.MONOLITH, 1);
    assertEquals(List.of("_id_"), indexes(Collections.BOOKING));
    assertEquals(List.of("_id_"), indexes(Collections.SEGMENT));
    assertEquals(List.of("_id_"), indexes(Collections.FLIGHT));
    for (int i = 0; i < 2; i++) {
      new BookingLoader(database.database(), indexed).clear();
      assertEquals(List.of("_id_", "customerId_1"), indexes(Collections.BOOKING));
    }
  }

  @Test
  void numbersToLoadHaveLimits() {
    assertEquals(0, CustomerLoader.checked(0));
    assertThrows(InvalidInputException.class, () -> CustomerLoader.checked(-1));
    assertThrows(InvalidInputException.class, () -> CustomerLoader.checked(Long.MAX_VALUE));
    assertEquals(1, FlightLoader.checked(1));
    assertThrows(InvalidInputException.class, () -> FlightLoader.checked(0));
    assertThrows(InvalidInputException.class, () -> FlightLoader.checked(367));
  }

  private String loaded(Dialect dialect, Map<String, String> variables, int customers, int days) {
    AcmeAirSettings settings = AcmeAirSettings.read(variables);
    new CustomerLoader(database.database(), dialect).load(customers);
    new FlightLoader(database.database(), settings, TestData.CLOCK).load(days);
    return hash().orElseThrow();
  }

  private Optional<String> hash() {
    return new DataSet(database.database()).hash();
  }

  private List<String> indexes(String collection) {
    return database
        .database()
        .getCollection(collection)
        .listIndexes()
        .map(index -> index.getString("name"))
        .into(new ArrayList<>());
  }

  private List<Document> documents() {
    MongoDatabase data = database.database();
    List<Document> all = new ArrayList<>();
    for (String collection :
        List.of(
            Collections.AIRPORT, Collections.SEGMENT, Collections.FLIGHT, Collections.CUSTOMER)) {
      data.getCollection(collection).find().into(all);
    }
    return all;
  }
}
