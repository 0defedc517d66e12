// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.json;

import dev.steelyard.acmeair.InvalidInputException;
import dev.steelyard.acmeair.customer.Address;
import dev.steelyard.acmeair.customer.Customer;
import jakarta.json.Json;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonReaderFactory;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.io.StringReader;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Sets customers, and reads what clients send of them. */
public final class CustomerTexts {

  private static final String PASSWORD = "password";
  private static final JsonReaderFactory READERS = Json.createReaderFactory(Map.of());

  private CustomerTexts() {}

  /** A customer with the password null and at the end. */
  public static String profile(Customer customer, JsonStyle style) {
    Map<String, Object> members = members(customer, null);
    members.remove(PASSWORD);
    members.put(PASSWORD, null);
    return style.print(members);
  }

  /** A customer as it is stored, but with this password. */
  public static String stored(Customer customer, String password, JsonStyle style) {
    return style.print(members(customer, password));
  }

  private static Map<String, Object> members(Customer customer, String password) {
    Address address = customer.address();
    Map<String, Object> place = new LinkedHashMap<>();
    for (int line = 0; line < address.street().size(); line++) {
      place.put("streetAddress" + (line + 1), address.street().get(line));
    }
    place.put("city", address.city());
    place.put("stateProvince", address.stateProvince());
    place.put("country", address.country());
    place.put("postalCode", address.postalCode());
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("_id", customer.id());
    members.put(PASSWORD, password);
    members.put("status", customer.status());
    members.put("total_miles", customer.totalMiles());
    members.put("miles_ytd", customer.milesThisYear());
    members.put("address", place);
    members.put("phoneNumber", customer.phoneNumber());
    members.put("phoneNumberType", customer.phoneNumberType());
    return members;
  }

  /**
   * Reads a JSON object with members in any order; other members are ignored. All must be there but
   * {@code address.streetAddress2}, which may also be null.
   *
   * @throws InvalidInputException if the text is no such object
   */
  public static Customer parse(String json) {
    JsonObject customer = object(json);
    JsonObject address = member(customer, "address", JsonObject.class, "an object");
    return new Customer(
        text(customer, "_id"),
        text(customer, PASSWORD),
        text(customer, "status"),
        number(customer, "total_miles"),
        number(customer, "miles_ytd"),
        new Address(
            Arrays.asList(
                text(address, "streetAddress1"),
                address.getOrDefault("streetAddress2", JsonValue.NULL) == JsonValue.NULL
                    ? null
                    : text(address, "streetAddress2")),
            text(address, "city"),
            text(address, "stateProvince"),
            text(address, "country"),
            text(address, "postalCode")),
        text(customer, "phoneNumber"),
        text(customer, "phoneNumberType"));
  }

  private static JsonObject object(String json) {
    try (JsonReader reader = READERS.createReader(new StringReader(json))) {
      return reader.readObject();
    } catch (RuntimeException e) { // Of several kinds: for bad JSON, other values, deep nesting.
      throw new InvalidInputException("The body is no JSON object of a customer.");
    }
  }

  private static String text(JsonObject object, String name) {
    return member(object, name, JsonString.class, "a string").getString();
  }

  private static int number(JsonObject object, String name) {
    try {
      return member(object, name, JsonNumber.class, "a number").intValueExact();
    } catch (ArithmeticException e) {
      throw new InvalidInputException("The member '" + name + "' is no whole number that fits.");
    }
  }

  private static <T extends JsonValue> T member(
      JsonObject object, String name, Class<T> type, String wanted) {
    JsonValue value = object.get(name);
    if (!type.isInstance(value)) {
      throw new InvalidInputException("The member '" + name + "' must be " + wanted + ".");
    }
    return type.cast(value);
  }
}
