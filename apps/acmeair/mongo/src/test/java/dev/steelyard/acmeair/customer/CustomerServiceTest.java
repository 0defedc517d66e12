// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.TestData;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.json.CustomerTexts;
import dev.steelyard.acmeair.json.JsonStyle;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CustomerServiceTest {

  private static final String USER = "uid1@email.com";

  @RegisterExtension final TestDatabase database = new TestDatabase();

  @Test
  void aProfileHasItsMembersInOrderAndNoPassword() {
    TestData monolith = TestData.monolith(database, 2);
    assertEquals(
        "{ \"_id\" : \"uid1@email.com\", \"status\" : \"GOLD\", \"total_miles\" : 1000000,"
            + " \"miles_ytd\" : 1000, \"address\" : { \"streetAddress1\" : \"123 Main St.\","
            + " \"streetAddress2\" : null, \"city\" : \"Anytown\", \"stateProvince\" : \"NC\","
            + " \"country\" : \"USA\", \"postalCode\" : \"27617\" }, \"phoneNumber\" :"
            + " \"919-123-4567\", \"phoneNumberType\" : \"BUSINESS\", \"password\" : null }",
        monolith.profile(USER));
    TestData services = TestData.services(database, 2);
    assertTrue(
        services
            .profile(USER)
            .startsWith(
                "{\"_id\": \"uid1@email.com\", \"status\": \"GOLD\", \"total_miles\": 0,"
                    + " \"miles_ytd\": 0, \"address\": {"));
    assertEquals(Optional.empty(), services.customers().profile("uid2@email.com"));
  }

  @Test
  void aPasswordIsTheCustomersOrNot() {
    CustomerService customers = TestData.services(database, 2).customers();
    assertTrue(customers.validate(USER, "password"));
    assertFalse(customers.validate(USER, "Password"));
    assertFalse(customers.validate("nobody", "password"));
    assertFalse(customers.validate("{\"$ne\": null}", "password"));
  }

  @Test
  void anUpdateStoresWhatAClientSends() {
    TestData data = TestData.monolith(database, 2);
    CustomerService customers = data.customers();
    Customer sent = CustomerTexts.parse(text(data).replace("123 Main St.", "124 Main St."));

    assertEquals(Optional.of(sent), customers.update(sent));
    assertEquals(Optional.of(sent), customers.profile(USER));
    assertTrue(customers.validate(USER, "password"));
    Document reply = Document.parse(CustomerTexts.stored(sent, null, JsonStyle.WIDE));
    assertEquals("password", reply.keySet().toArray()[1]);
    assertEquals(null, reply.get("password"));
    assertEquals(
        Arrays.asList("124 Main St.", null), customers.profile(USER).get().address().street());
    customers.update(sent.withoutEmptyLine());
    assertEquals(List.of("124 Main St."), customers.profile(USER).get().address().street());
    assertEquals(
        "123 Main St.", customers.profile("uid0@email.com").get().address().street().get(0));
  }

  @Test
  void anUpdateNeedsThePassword() {
    TestData data = TestData.monolith(database, 2);
    String before = data.profile(USER);
    Customer guess =
        CustomerTexts.parse(
            text(data)
                .replace("GOLD", "SILVER")
                .replace("\"password\": \"password\"", "\"password\": \"guess\""));
    assertEquals(Optional.empty(), data.customers().update(guess));
    assertEquals(Optional.empty(), data.customers().update(data.sent(USER).withId("nobody")));
    assertEquals(before, data.profile(USER));
  }

  @Test
  void milesAreAddedAndTakenBack() {
    CustomerService customers = TestData.services(database, 2).customers();
    assertEquals(OptionalInt.of(4_000), customers.addMiles(USER, 4_000));
    assertEquals(OptionalInt.of(-1_000), customers.addMiles(USER, -5_000));
    assertEquals(OptionalInt.empty(), customers.addMiles("nobody", 1));
    assertThrows(InvalidInputException.class, () -> customers.addMiles(USER, Integer.MIN_VALUE));
    assertEquals(-1_000, customers.profile(USER).orElseThrow().totalMiles());
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
        assertThrows(InvalidInputException.class, () -> CustomerTexts.parse(body));
    assertTrue(refused.getMessage().matches("The [^.]*\\."), refused.getMessage());
  }

  @Test
  void numbersMustBeWholeAndFit() {
    String sent = text(TestData.monolith(database, 2));
    for (String miles : new String[] {"1.5", "1e99", "3000000000", "\"1\"", "null"}) {
      String bad = sent.replace("\"total_miles\" : 1000000", "\"total_miles\" : " + miles);
      assertThrows(InvalidInputException.class, () -> CustomerTexts.parse(bad), miles);
    }
    String deep = "[".repeat(50_000);
    assertThrows(InvalidInputException.class, () -> CustomerTexts.parse(deep));
  }

  @Test
  void theSecondLineOfAnAddressMayBeNullOrAbsent() {
    String sent = text(TestData.monolith(database, 2));
    assertEquals(Arrays.asList("123 Main St.", null), street(sent));
    assertEquals(street(sent), street(sent.replace("\"streetAddress2\" : null,", "")));
    assertEquals(
        List.of("123 Main St.", "Room 2"),
        street(sent.replace("\"streetAddress2\" : null", "\"streetAddress2\" : \"Room 2\"")));
  }

  private static List<String> street(String customer) {
    return CustomerTexts.parse(customer).address().street();
  }

  private static String text(TestData data) {
    return CustomerTexts.stored(data.sent(USER), "password", JsonStyle.WIDE)
        .replace("\"password\" : \"password\"", "\"password\": \"password\"");
  }
}
