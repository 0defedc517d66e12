// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.monolith.original;

import dev.steelyard.acmeair.json.JsonStyle;
import dev.steelyard.acmeair.original.TextForm;
import java.util.Map;
import org.json.simple.parser.JSONParser;
import org.json.simple.parser.ParseException;

/** Objects of JSON, read by the parser that the original has. */
final class ParsedJson {

  static final TextForm FORM = new TextForm(JsonStyle.WIDE, text -> new Parsed(parsed(text)));

  private record Parsed(Map<String, Object> members) implements TextForm.Members {

    @Override
    public String text(String name) {
      return (String) members.get(name);
    }

    @Override
    public int number(String name) {
      return ((Long) members.get(name)).intValue();
    }
  }

  private ParsedJson() {}

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
