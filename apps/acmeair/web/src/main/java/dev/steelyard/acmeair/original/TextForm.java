// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.original;

import dev.steelyard.acmeair.json.Factories;
import dev.steelyard.acmeair.json.JsonStyle;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.util.function.Function;

/**
 * How an original keeps something as text.
 *
 * @param style how the text is set
 * @param parser what finds the members of an object in a text that was set so
 */
public record TextForm(JsonStyle style, Function<String, Members> parser) {

  /** The members of an object that was parsed. */
  public interface Members {

    /** The member of this name, a string. */
    String text(String name);

    /** The member of this name, a whole number. */
    int number(String name);
  }

  /** The form of the services: each text has a reader of JSON-P from one factory. */
  public static final TextForm SERVICES = new TextForm(JsonStyle.RELAXED, TextForm::read);

  private static Members read(String text) {
    try (JsonReader reader = Factories.READERS.createReader(new StringReader(text))) {
      JsonObject object = reader.readObject();
      return new Members() {
        @Override
        public String text(String name) {
          return object.getString(name);
        }

        @Override
        public int number(String name) {
          return object.getInt(name);
        }
      };
    }
  }
}
