// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of real injectors against a small calendar. */
class OlioInjectorTest {
  @TempDir Path folder;

  private static long requests(Injector injector, String operation) throws Exception {
    return injector.summary().at("/operations/" + operation + "/requests").asLong();
  }

  private ObjectNode settings(OlioServer server) {
    ObjectNode settings = Injector.settings(folder, List.of(server.url()));
    settings.put("scenario", "olio").remove("journey");
    settings.putObject("parameters").put("scale", 30);
    return settings;
  }

  @Test
  void aProbeSendsEveryOperationWithAllThatBelongsToIt() throws Exception {
    try (OlioServer server = new OlioServer(30)) {
      ObjectNode settings = settings(server).put("model", "probe");
      settings.remove("users");
      Injector injector = Injector.run(settings);
      assertEquals("[]", injector.summary().get("errorMessages").toString(), injector::console);
      assertEquals(7, injector.summary().get("firstAnswers").size());
      assertEquals(1, server.served("POST /person/login"));
      assertEquals(1, server.served("GET /logout"));
      assertEquals(1, server.served("GET /event/list"), "what the log-in led to");
      assertEquals(2, server.served("GET /event/detail"), "one that was added");
      assertEquals(1, server.served("POST /api/person/fileuploadPerson"));
      assertEquals(1, server.served("POST /api/event/addEvent"));
      assertEquals(1, server.served("POST /tag/display"));
      assertEquals(1, server.served("GET /tag/display"));
      assertTrue(server.served("image") >= 11, "ten on the home page, one of an event");
      assertTrue(server.served("unchanged") + server.served("static") >= 33);
    }
  }

  @Test
  void usersKeepTheirCyclesAndWhatTheyDidIsCounted() throws Exception {
    try (OlioServer server = new OlioServer(30)) {
      Injector injector =
          Injector.runUntil(
              settings(server).put("users", 30),
              "enough was served",
              () ->
                  server.served("GET /event/detail") > 5 && server.served("POST /tag/display") > 5);
      assertEquals("[]", injector.summary().get("errorMessages").toString());
      assertEquals(server.served("GET /"), requests(injector, "home-page"));
      assertEquals(server.served("POST /tag/display"), requests(injector, "tag-search"));
      assertEquals(server.served("POST /person/login"), requests(injector, "login"));
      JsonNode outcomes = injector.summary().get("outcomes");
      assertEquals(
          10 * requests(injector, "home-page"), outcomes.get("home-image-listed").asLong());
      assertEquals(
          server.served("GET /api/event/addAttendee"), outcomes.get("attendee-added").asLong());
      assertEquals(server.served("GET /logout"), outcomes.get("logout").asLong());
      assertTrue(injector.console().contains("images loaded per home page: "), injector::console);
      long cycles = 0;
      for (JsonNode line : injector.health()) {
        cycles += line.at("/cycles/home-page/count").asLong();
      }
      assertEquals(requests(injector, "home-page"), cycles);
    }
  }

  @Test
  void moreUsersThanTheDataIsForAreRefused() throws Exception {
    try (OlioServer server = new OlioServer(30)) {
      Injector injector = Injector.start(settings(server).put("users", 31));
      assertEquals(2, injector.await());
      assertTrue(
          injector.console().contains("at most 30, the scale of the data"), injector::console);
    }
  }
}
