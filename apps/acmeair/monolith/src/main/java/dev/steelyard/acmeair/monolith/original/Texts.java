// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith.original;

import java.util.Map;
import org.json.simple.parser.JSONParser;
import org.json.simple.parser.ParseException;

/** Texts that were set a moment ago. */
final class Texts {

  private Texts() {}

  /**
   * The members of an object. A new parser each time, as in the original: it has a large buffer.
   */
  @SuppressWarnings("unchecked") // The members of an object have names.
  static Map<String, Object> parsed(String text) {
    try {
      return (Map<String, Object>) new JSONParser().parse(text);
    } catch (ParseException e) {
      throw new IllegalStateException(e);
    }
  }
}
