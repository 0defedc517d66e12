// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class JsonStyleTest {

  private static final Document DOCUMENT =
      new Document("a", 1)
          .append("b", "x")
          .append("c", new Document("d", null).append("e", new Document()))
          .append("f", Arrays.asList(true, 2.5, null))
          .append("g", List.of());

  @Test
  void stylesDifferInBlanksOnly() {
    assertEquals(
        "{ \"a\" : 1, \"b\" : \"x\", \"c\" : { \"d\" : null, \"e\" : {} },"
            + " \"f\" : [true, 2.5, null], \"g\" : [] }",
        JsonStyle.WIDE.print(DOCUMENT));
    assertEquals(
        "{\"a\": 1, \"b\": \"x\", \"c\": {\"d\": null, \"e\": {}}, \"f\": [true, 2.5, null],"
            + " \"g\": []}",
        JsonStyle.RELAXED.print(DOCUMENT));
    assertEquals(
        "{\"a\":1,\"b\":\"x\",\"c\":{\"d\":null,\"e\":{}},\"f\":[true,2.5,null],\"g\":[]}",
        JsonStyle.COMPACT.print(DOCUMENT));
    assertEquals("[1, 2]", JsonStyle.WIDE.array(List.of("1", "2")));
    assertEquals("[]", JsonStyle.RELAXED.array(List.of()));
  }

  @ParameterizedTest
  @EnumSource(JsonStyle.class)
  void anyTextSurvives(JsonStyle style) {
    StringBuilder all = new StringBuilder();
    for (char c = 0; c < 0x180; c++) {
      all.append(c);
    }
    String text = all + "\u2028\u20ac\ud83d\ude00";
    String printed = style.print(Map.of(text, text));
    try (JsonReader reader = Json.createReader(new StringReader(printed))) {
      JsonObject parsed = reader.readObject();
      assertEquals(text, parsed.getString(text));
    }
  }

  @Test
  void datesAreSetAsAsked() {
    Instant date = Instant.parse("2026-12-31T23:30:00Z");
    DateTexts berlin = new DateTexts(ZoneId.of("Europe/Berlin"));
    assertEquals(
        "{\"d\":\"Fri Jan 01 00:30:00 CET 2027\"}",
        JsonStyle.COMPACT.print(Map.of("d", date), berlin::format));
    assertEquals("Thu Dec 31 23:30:00 UTC 2026", new DateTexts(ZoneId.of("UTC")).format(date));
    assertThrows(IllegalArgumentException.class, () -> JsonStyle.COMPACT.print(Map.of("d", date)));
  }
}
