// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.customer;

import dev.steelyard.acmeair.InvalidInputException;
import jakarta.json.Json;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.io.StringReader;

/**
 * A customer as a client sends it, to be stored.
 *
 * @param id the customer's login name
 * @param password as the customer knows it: it is checked and never changed
 * @param status such as GOLD
 * @param totalMiles miles in all
 * @param milesThisYear miles of this year
 * @param address where the customer lives
 * @param phoneNumber any text
 * @param phoneNumberType such as BUSINESS
 */
public record CustomerUpdate(
    String id,
    String password,
    String status,
    int totalMiles,
    int milesThisYear,
    Address address,
    String phoneNumber,
    String phoneNumberType) {

  /**
   * A postal address.
   *
   * @param streetAddress1 number and street
   * @param streetAddress2 a second line, or null
   * @param city city
   * @param stateProvince state or province
   * @param country country
   * @param postalCode postal code
   */
  public record Address(
      String streetAddress1,
      String streetAddress2,
      String city,
      String stateProvince,
      String country,
      String postalCode) {}

  /**
   * Reads a JSON object with members in any order; other members are ignored. All must be there but
   * {@code address.streetAddress2}, which may also be null.
   *
   * @throws InvalidInputException if the text is no such object
   */
  public static CustomerUpdate parse(String json) {
    JsonObject customer = object(json);
    JsonObject address = member(customer, "address", JsonObject.class, "an object");
    return new CustomerUpdate(
        text(customer, "_id"),
        text(customer, "password"),
        text(customer, "status"),
        number(customer, "total_miles"),
        number(customer, "miles_ytd"),
        new Address(
            text(address, "streetAddress1"),
            address.getOrDefault("streetAddress2", JsonValue.NULL) == JsonValue.NULL
                ? null
                : text(address, "streetAddress2"),
            text(address, "city"),
            text(address, "stateProvince"),
            text(address, "country"),
            text(address, "postalCode")),
        text(customer, "phoneNumber"),
        text(customer, "phoneNumberType"));
  }

  private static JsonObject object(String json) {
    try (JsonReader reader = Json.createReader(new StringReader(json))) {
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
