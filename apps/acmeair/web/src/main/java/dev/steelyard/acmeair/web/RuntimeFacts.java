// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import dev.steelyard.acmeair.json.JsonStyle;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What runs the application, as the configuration pages show it. */
public final class RuntimeFacts {

  private RuntimeFacts() {}

  /** JSON: an array of three objects, each with a {@code name} and a {@code description}. */
  public static String json() {
    return JsonStyle.COMPACT.array(
        List.of(
            fact("Runtime", "Java"),
            fact("Version", System.getProperty("java.version")),
            fact("Vendor", System.getProperty("java.vendor"))));
  }

  private static String fact(String name, String description) {
    return JsonStyle.COMPACT.print(
        new TreeMap<>(Map.of("name", name, "description", description)).descendingMap());
  }
}
