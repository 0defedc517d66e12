// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.CountedOperations;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server that keeps nothing of its home page, leaves parts of an event to scripts, and soon goes
 * on without the geocoder.
 */
@Tag("full")
final class SwitchesIT {

  /** Longer than any wait for it. */
  private static final int SLOW_MILLIS = 60_000;

  private static OlioServer server;

  @BeforeAll
  static void start() throws Exception {
    server =
        OlioServer.started(
            Map.of("OLIO_CACHE", "off", "OLIO_JMAKI", "true", "OLIO_GEOCODER_READ_TIMEOUT", "700"));
  }

  @AfterAll
  static void end() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void withoutACacheEachHomePageSendsAllOfItsStatements() throws Exception {
    CountedOperations counted = new CountedOperations(server.statements());
    OlioBrowser browser = server.browser();
    String first = counted.perform("home", "S3", () -> browser.get("").must("Events")).body();
    String second = counted.perform("home again", "S3", () -> browser.get("").must("Tags")).body();
    assertEquals(first, second);
    OlioBrowser user = server.browser().as(30);
    counted.perform("home: requests, next events", "S5", () -> user.get("").must("Hello"));
    counted.perform("home again, logged in", "S3", () -> user.get("").must("Hello"));
    counted.compare();
    assertEquals(0, server.count("cacheHits") + server.count("cacheMisses"));
    assertEquals("off", setting("cache"));
  }

  @Test
  void scriptsAskForTheAttendeesAndCommentsThatThePageLeavesOut() throws Exception {
    CountedOperations counted = new CountedOperations(server.statements());
    OlioBrowser browser = server.browser();
    int event = 42;
    // The page counts the attendees, so it reads them as well.
    Answer page =
        counted.perform(
            "event: itself, address, attendees, tags, comments",
            "S5",
            () -> browser.get("event/detail?socialEventID=" + event));
    String attendeesAt = asked(page, "data-attendees");
    String commentsAt = asked(page, "data-comments");
    List<String> submitter = page.all("user_name=([a-z0-9]+)\"");
    assertEquals(1, submitter.size(), page.body());
    assertEquals(List.of(), page.all("class=\"(comment)\""));

    counted.perform("attendees", "S1", () -> browser.get(attendeesAt).must("not_logged_in"));
    counted.perform("comments", "S1", () -> browser.get(commentsAt).must("commentsratings"));
    counted.perform(
        "event, kept",
        "S3",
        () -> browser.get("event/detail?socialEventID=" + event).must("data-comments"));
    counted.compare();
    JsonArray attendees =
        server.json("/olio/" + attendeesAt).getJsonObject("result").getJsonArray("attendees");
    assertEquals(page.all("<h2>(\\d+) attend"), List.of(Integer.toString(attendees.size())));
    JsonArray comments = server.json("/olio/" + commentsAt).getJsonArray("commentsratings");
    assertFalse(comments.isEmpty());
    for (JsonObject comment : comments.getValuesAs(JsonObject.class)) {
      int stars = comment.getInt("rating");
      assertTrue(stars >= 2 && stars <= 5, comment::toString);
    }
    assertEquals("true", setting("jmaki"));
  }

  @Test
  void withASlowGeocoderOperationsGoOn() throws Exception {
    int failures = server.count("geocoderFailures");
    server.geocoder(true, SLOW_MILLIS);
    try {
      server
          .browser()
          .upload("api/person/fileuploadPerson?user_name=patient", OlioBrowser.person("patient"))
          .must("patient");
    } finally {
      server.geocoder(true, 0);
    }
    assertEquals(failures + 1, server.count("geocoderFailures"));
  }

  /** The address that a script asks, within the application. */
  private static String asked(Answer page, String attribute) {
    List<String> found = page.must(attribute).all(attribute + "=\"/olio/([^\"]+)\"");
    assertEquals(1, found.size(), page.body());
    return found.get(0);
  }

  private static String setting(String name) throws Exception {
    return server.json("/olio/bench/info").getJsonObject("settings").getString(name);
  }
}
