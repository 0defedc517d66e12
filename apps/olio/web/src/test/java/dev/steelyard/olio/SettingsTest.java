// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.bench.settings.SettingsException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SettingsTest {

  @Test
  void withoutVariablesTheyAreTheDefaults() {
    Settings settings = new Settings();
    settings.read(Map.of("OLIO_SEED", " "));
    Map<String, String> shown = settings.shown();
    assertEquals("25", shown.get("scale"));
    assertEquals("1", shown.get("seed"));
    assertEquals("2026-06-15", shown.get("today"));
    assertEquals("full", shown.get("files"));
    assertEquals("local", shown.get("cache"));
    assertEquals("false", shown.get("jmaki"));
    assertEquals("2026-06-15T00:00", settings.now().toString());
  }

  @ParameterizedTest
  @CsvSource({
    "OLIO_SCALE, 0",
    "OLIO_SCALE, 9001",
    "OLIO_SCALE, many",
    "OLIO_SCALE, +5",
    "OLIO_SEED, -1",
    "OLIO_TODAY, tomorrow",
    "OLIO_FILES, tiny",
    "OLIO_FILES_MODE, move",
    "OLIO_CACHE, memcached",
    "OLIO_JMAKI, yes",
    "OLIO_GEOCODER_READ_TIMEOUT, 0",
  })
  void whatIsNoValueIsNamed(String variable, String text) {
    SettingsException refused =
        assertThrows(SettingsException.class, () -> new Settings().read(Map.of(variable, text)));
    String sentence = refused.getMessage();
    assertTrue(sentence.startsWith(variable + " is '" + text + "': set it to "), sentence);
  }
}
