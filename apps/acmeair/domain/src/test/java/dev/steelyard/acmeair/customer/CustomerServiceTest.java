// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.Dialect;
import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import java.util.Optional;
import java.util.OptionalInt;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CustomerServiceTest {

  private static final String USER = "uid1@email.com";

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void aProfileHasItsMembersInOrderAndNoPassword() {
    CustomerService monolith = TestData.load(database, Dialect.MONOLITH, 2).customers();
    assertEquals(
        "{ \"_id\" : \"uid1@email.com\", \"status\" : \"GOLD\", \"total_miles\" : 1000000,"
            + " \"miles_ytd\" : 1000, \"address\" : { \"streetAddress1\" : \"123 Main St.\","
            + " \"streetAddress2\" : null, \"city\" : \"Anytown\", \"stateProvince\" : \"NC\","
            + " \"country\" : \"USA\", \"postalCode\" : \"27617\" }, \"phoneNumber\" :"
            + " \"919-123-4567\", \"phoneNumberType\" : \"BUSINESS\", \"password\" : null }",
        monolith.profile(USER).orElseThrow());
    CustomerService services = TestData.load(database, Dialect.MICROSERVICES, 2).customers();
    assertTrue(
        services
            .profile(USER)
            .orElseThrow()
            .startsWith(
                "{\"_id\": \"uid1@email.com\", \"status\": \"GOLD\", \"total_miles\": 0,"
                    + " \"miles_ytd\": 0, \"address\": {"));
    assertEquals(Optional.empty(), services.profile("uid2@email.com"));
  }

  @Test
  void aPasswordIsTheCustomersOrNot() {
    CustomerService customers = TestData.load(database, Dialect.MICROSERVICES, 2).customers();
    assertTrue(customers.validate(USER, "password"));
    assertFalse(customers.validate(USER, "Password"));
    assertFalse(customers.validate("nobody", "password"));
    assertFalse(customers.validate("{\"$ne\": null}", "password"));
  }

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void anUpdateStoresWhatAClientSends(Dialect dialect) {
    CustomerService customers = TestData.load(database, dialect, 2).customers();
    String sent = sent(customers).replace("123 Main St.", "124 Main St.");

    String stored = customers.update(USER, CustomerUpdate.parse(sent)).orElseThrow();

    Document reply = Document.parse(stored);
    assertEquals("password", reply.keySet().toArray()[1]);
    assertEquals(null, reply.get("password"));
    Document address = reply.get("address", Document.class);
    assertEquals("124 Main St.", address.getString("streetAddress1"));
    assertEquals(dialect == Dialect.MICROSERVICES, address.containsKey("streetAddress2"));
    assertTrue(customers.validate(USER, "password"));
    assertEquals(Document.parse(stored), Document.parse(customers.profile(USER).orElseThrow()));
    assertEquals(
        "123 Main St.",
        Document.parse(customers.profile("uid0@email.com").orElseThrow())
            .get("address", Document.class)
            .getString("streetAddress1"));
  }

  @Test
  void anUpdateNeedsThePassword() {
    CustomerService customers = TestData.load(database, Dialect.MONOLITH, 2).customers();
    String before = customers.profile(USER).orElseThrow();
    CustomerUpdate update =
        CustomerUpdate.parse(sent(customers).replace("\"password\"}", "\"guess\"}"));
    assertEquals(Optional.empty(), customers.update(USER, update));
    assertEquals(Optional.empty(), customers.update("nobody", update));
    assertEquals(before, customers.profile(USER).orElseThrow());
  }

  @Test
  void milesAreAddedAndTakenBack() {
    CustomerService customers = TestData.load(database, Dialect.MICROSERVICES, 2).customers();
    assertEquals(OptionalInt.of(4_000), customers.addMiles(USER, 4_000));
    assertEquals(OptionalInt.of(-1_000), customers.addMiles(USER, -5_000));
    assertEquals(OptionalInt.empty(), customers.addMiles("nobody", 1));
    assertThrows(InvalidInputException.class, () -> customers.addMiles(USER, Integer.MIN_VALUE));
    assertEquals(
        -1_000, Document.parse(customers.profile(USER).orElseThrow()).getInteger("total_miles"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "\"text\"",
        "{",
        "{}",
        "{\"_id\": 1}",
        "{\"_id\": \"a\"} trailing",
        "{\"address\": null}",
        "{\"address\": {}}",
        "{\"_id\": {\"$ne\": 1}, \"address\": {}}"
      })
  void whatIsNoCustomerIsRefusedInOneSentence(String body) {
    InvalidInputException refused =
        assertThrows(InvalidInputException.class, () -> CustomerUpdate.parse(body));
    assertTrue(refused.getMessage().matches("The [^.]*\\."), refused.getMessage());
  }

  @Test
  void numbersMustBeWholeAndFit() {
    CustomerService customers = TestData.load(database, Dialect.MONOLITH, 2).customers();
    String sent = sent(customers);
    for (String miles : new String[] {"1.5", "1e99", "3000000000", "\"1\"", "null"}) {
      String bad = sent.replace("\"total_miles\" : 1000000", "\"total_miles\" : " + miles);
      assertThrows(InvalidInputException.class, () -> CustomerUpdate.parse(bad), miles);
    }
    String deep = "[".repeat(50_000);
    assertThrows(InvalidInputException.class, () -> CustomerUpdate.parse(deep));
  }

  @Test
  void theSecondLineOfAnAddressMayBeNullOrAbsent() {
    String sent = sent(TestData.load(database, Dialect.MONOLITH, 2).customers());
    assertEquals(null, CustomerUpdate.parse(sent).address().streetAddress2());
    String absent = sent.replace("\"streetAddress2\" : null,", "");
    assertEquals(CustomerUpdate.parse(sent), CustomerUpdate.parse(absent));
    String given = sent.replace("\"streetAddress2\" : null", "\"streetAddress2\" : \"Room 2\"");
    assertEquals("Room 2", CustomerUpdate.parse(given).address().streetAddress2());
  }

  /** A profile as drivers send it back. */
  private static String sent(CustomerService customers) {
    return customers
        .profile(USER)
        .orElseThrow()
        .replaceFirst("\"password\" ?: null ?}", "\"password\": \"password\"}");
  }
}
