// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static dev.steelyard.loadgen.SettingsException.one;
import static dev.steelyard.loadgen.SettingsException.within;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What steps depend on: one of value, saved, missing and chance.
 *
 * @param value a text, which is held against one of the next three
 * @param is the text that it is
 * @param isNot a text that it is not
 * @param matches a pattern that is found in it
 * @param saved variable that has a value
 * @param missing variable that has none
 * @param chance how often it holds, from 0 to 1
 */
public record Condition(
    String value,
    JsonNode is,
    @JsonProperty("is_not") JsonNode isNot,
    String matches,
    String saved,
    String missing,
    Double chance) {
  /** Checks. */
  public Condition {
    one("value, saved, missing, chance", value, saved, missing, chance);
    if (value != null) {
      one("is, is_not, matches", is, isNot, matches);
    }
    JourneySpec.checkPattern("matches", matches);
    if (chance != null) {
      within("chance", chance, 0, 1);
    }
  }

  /** All that may hold {@code ${name}}. */
  Stream<String> texts() {
    return Stream.of(value, is == null ? null : is.asText(), isNot == null ? null : isNot.asText())
        .filter(Objects::nonNull);
  }
}
