// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** Compares JSON with what is expected of it. */
final class JsonShape {

  private JsonShape() {}

  /**
   * Objects need the same members in the same order, arrays the same elements. A string in slashes
   * is a regular expression of a string or number; anything else is the very value.
   *
   * @param where the value is, for messages
   */
  static void check(JsonNode expected, JsonNode actual, String where) {
    if (expected.isObject()) {
      assertEquals(names(expected), names(actual), where);
      expected
          .properties()
          .forEach(
              member ->
                  check(
                      member.getValue(),
                      actual.get(member.getKey()),
                      where + "." + member.getKey()));
    } else if (expected.isArray()) {
      assertTrue(actual.isArray(), where);
      assertEquals(expected.size(), actual.size(), where);
      for (int i = 0; i < expected.size(); i++) {
        check(expected.get(i), actual.get(i), where + "[" + i + "]");
      }
    } else if (expected.isTextual() && expected.asText().matches("/.*/")) {
      String pattern = expected.asText().substring(1, expected.asText().length() - 1);
      assertTrue(actual.isValueNode() && actual.asText().matches(pattern), where + ": " + actual);
    } else {
      assertEquals(expected, actual, where);
    }
  }

  private static List<String> names(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }
}
