// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.mongo.Collections;
import dev.steelyard.acmeair.mongo.Counts;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class DataSetTest {

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void theSameSettingsMakeTheSameDataAndHash() {
    assertEquals(Optional.empty(), hash());
    TestData.monolith(database, 1_500);
    Optional<String> hash = hash();
    List<Document> documents = documents();
    assertTrue(hash.orElseThrow().matches("[0-9a-f]{16}"), hash.toString());
    assertEquals(31 + 394 + 2_364 + 1_500, documents.size());

    TestData.monolith(database, 1_500);
    assertEquals(documents, documents());
    assertEquals(hash, hash());
    // Known: what makes another data set of the same settings must be a new version.
    assertEquals("c9a76ab29d56bd1b", hash.orElseThrow());
  }

  @Test
  void whatMakesOtherDataMakesAnotherHash() {
    List<String> hashes = new ArrayList<>();
    hashes.add(loaded(Map.of(), 100, 5));
    new CustomerLoader(database.database()).load(100, 0, 0);
    hashes.add(hash().orElseThrow());
    hashes.add(loaded(Map.of(), 101, 5));
    hashes.add(loaded(Map.of(), 100, 6));
    hashes.add(loaded(Map.of("ACMEAIR_SEED", "2"), 100, 5));
    hashes.add(loaded(Map.of("ACMEAIR_TODAY", "2026-06-16"), 100, 5));
    hashes.add(loaded(Map.of("ACMEAIR_ZONE", "Asia/Tokyo"), 100, 5));
    assertEquals(hashes.size(), hashes.stream().distinct().count(), hashes.toString());
    assertEquals(hashes.get(0), loaded(Map.of("ACMEAIR_INDEXES", "secondary"), 100, 5));
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
    TestData.monolith(database, 10);
    Counts counts = new Counts(database.database());
    for (ToLongFunction<String> of :
        List.<ToLongFunction<String>>of(counts::known, counts::counted)) {
      assertEquals(10, of.applyAsLong(Collections.CUSTOMER));
      assertEquals(2_364, of.applyAsLong(Collections.FLIGHT));
      assertEquals(394, of.applyAsLong(Collections.SEGMENT));
      assertEquals(31, of.applyAsLong(Collections.AIRPORT));
      assertEquals(0, of.applyAsLong(Collections.BOOKING));
    }
  }

  @Test
  void bookingsAreClearedAndIndexesMadeOnlyOnDemand() {
    TestData data = TestData.monolith(database, 1);
    database.database().getCollection(Collections.BOOKING).insertOne(new Document("_id", "x"));

    AcmeAirSettings indexed = AcmeAirSettings.read(Map.of("ACMEAIR_INDEXES", "secondary"));
    new BookingLoader(database.database(), indexed).clear();
    new FlightLoader(database.database(), indexed, TestData.CLOCK).load(5);
    assertEquals(List.of("_id_", "customerId_1"), indexes(Collections.BOOKING));
    assertEquals(List.of("_id_", "originPort_1_destPort_1"), indexes(Collections.SEGMENT));
    assertEquals(List.of("_id_", "flightSegmentId_1"), indexes(Collections.FLIGHT));
    assertEquals("[]", data.list("x"));
    assertEquals(0, new Counts(database.database()).known(Collections.BOOKING));

    TestData.monolith(database, 1);
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

  private String loaded(Map<String, String> variables, int customers, int days) {
    AcmeAirSettings settings = AcmeAirSettings.read(variables);
    new CustomerLoader(database.database()).load(customers, 1_000_000, 1_000);
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
