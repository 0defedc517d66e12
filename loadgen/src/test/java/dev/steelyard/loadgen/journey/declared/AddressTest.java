// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses as answers give them, and what a browser makes of them (RFC 3986, section 5.4). */
class AddressTest {
  private static final String SERVER = "http://shop:9080";
  private static final String SPEC =
      """
      {"visits": {"v": {"steps": [
        {"operation": "a", "path": "/a", "save": {"next": {"header": "Location"}}},
        {"operation": "b", "path": "${next}"}]}}}
      """;

  private DeclaredJourneys journeys;
  private DeclaredJourney journey;

  @BeforeEach
  void begin() throws IOException {
    JourneySpec spec = SettingsReader.JSON.readValue(SPEC, JourneySpec.class);
    journeys =
        new DeclaredJourneys(spec, Map.of(), new double[] {1}, false, DeclaredJourneys.Share.ALL);
    journey = journeys.start(new User(1, 0));
    journey.next();
  }

  private String address(String given) {
    journey.save(journeys.slot("next"), given);
    return journey.address(journeys.template("${next}", Template.Place.URL), SERVER);
  }

  @ParameterizedTest
  @CsvSource({
    "http://shop:9080/x?y=1, http://shop:9080/x?y=1",
    "HTTP://SHOP:9080/x, HTTP://SHOP:9080/x",
    "//shop:9080/x, http://shop:9080/x",
    "/x, http://shop:9080/x",
    "x, http://shop:9080/b/x",
    "../x, http://shop:9080/x",
    "x?y=1&z=2#part, http://shop:9080/b/x?y=1&z=2",
    "' /x ', http://shop:9080/x",
    "?y=2, http://shop:9080/b/c?y=2",
    "'', http://shop:9080/b/c?d=e",
    "'#part', http://shop:9080/b/c?d=e",
    "http://shop:9080, http://shop:9080/",
    "http://shop:9080?y=1, http://shop:9080/?y=1",
    "//shop:9080#x, http://shop:9080/",
    "../../../x/./y/.., http://shop:9080/x/",
    "/a//b/../c, http://shop:9080/a//c",
    "\\x\\y, http://shop:9080/x/y",
    "a b, http://shop:9080/b/a%20b",
    "a|b{c}\"d\", http://shop:9080/b/a%7Cb%7Bc%7D%22d%22",
    "x?q=a b|c&l[]=1, http://shop:9080/b/x?q=a%20b%7Cc&l[]=1",
    "a%20b/100%, http://shop:9080/b/a%20b/100%25",
    "grün, http://shop:9080/b/gr%C3%BCn",
    "'a\nb', http://shop:9080/b/ab",
  })
  void followsAsBrowsersDo(String given, String asked) {
    journey.visited(SERVER + "/b/c?d=e");
    assertEquals(asked, address(given));
  }

  @Test
  void beforeTheFirstPageItIsRelativeToTheRoot() {
    assertEquals(SERVER + "/x", address("x"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://other:9080/x",
        "http://shop/x",
        "https://shop:9080/x",
        "//other/x",
        "http://shop:9080.other/x",
        "http://shop:x/y",
        "mailto:a@b",
        "javascript:void(0)"
      })
  void leavesTheServerForNoOther(String given) {
    assertThrows(WrongAnswer.class, () -> address(given));
  }

  @Test
  void aPageOfABareHostHasARoot() {
    journey.visited(SERVER);
    assertEquals(SERVER + "/x", address("x"));
    assertEquals(SERVER + "/", address(""));
  }

  @Test
  void usualPortsNeedNotBeWritten() {
    journey.save(journeys.slot("next"), "http://shop:80/x");
    assertEquals(
        "http://shop:80/x",
        journey.address(journeys.template("${next}", Template.Place.URL), "http://shop"));
  }
}
