// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.SettingsReader;
import io.gatling.jsonpath.JsonPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import jodd.csselly.CSSelly;
import jodd.csselly.CSSellyException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What patterns, JSONPaths and selectors are refused; plans are held against the same table. */
class ExpressionsTest {
  static Stream<JsonNode> rows() throws IOException {
    Path table = Path.of("src/test/resources/expressions.json");
    JsonNode rows = SettingsReader.JSON.readTree(Files.readString(table));
    return StreamSupport.stream(rows.spliterator(), false);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void takesOrRefuses(JsonNode row) {
    String text = row.get("text").textValue();
    assertEquals(
        row.get("injector").booleanValue(), accepts(row.get("is").textValue(), text), text);
  }

  private static boolean accepts(String noun, String text) {
    return switch (noun) {
      case "pattern" -> isPattern(text);
      case "json" -> JsonPath.compile(text).isRight();
      default -> isSelector(text);
    };
  }

  private static boolean isPattern(String text) {
    try {
      JourneySpec.checkPattern("matches", text);
      return true;
    } catch (SettingsException e) {
      return false;
    }
  }

  private static boolean isSelector(String text) {
    try {
      CSSelly.parse(text);
      return true;
    } catch (CSSellyException e) {
      return false;
    }
  }
}
