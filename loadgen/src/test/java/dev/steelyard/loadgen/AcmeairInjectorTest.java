// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of real injectors against small servers that know who is logged in. */
class AcmeairInjectorTest {
  @TempDir Path folder;

  private ObjectNode settings(String scenario, AcmeairServer... servers) {
    List<String> urls = List.of(servers).stream().map(AcmeairServer::url).toList();
    ObjectNode settings = Injector.settings(folder, urls).put("scenario", scenario);
    settings.remove("journey");
    settings.putObject("parameters").put("customers", 20);
    return settings;
  }

  private static ObjectNode open(ObjectNode settings, int rate) {
    settings.put("model", "open").put("rate", rate).remove("users");
    return settings;
  }

  private static long requests(Injector injector, String operation) throws Exception {
    return injector.summary().at("/operations/" + operation + "/requests").asLong();
  }

  private static void assertNoErrors(Injector injector) throws Exception {
    JsonNode summary = injector.summary();
    assertEquals("[]", summary.get("errorMessages").toString());
    assertEquals(0, injector.healthSum("errors"));
  }

  private static void assertOutcomes(Injector injector) throws Exception {
    JsonNode outcomes = injector.summary().get("outcomes");
    long found = outcomes.get("outbound-found").asLong();
    assertTrue(found > 0 && found <= requests(injector, "query-flight"), outcomes.toString());
    assertEquals(0, outcomes.get("return-found").asLong(-1));
    long inHealth =
        injector.health().stream().mapToLong(l -> l.at("/outcomes/outbound-found").asLong()).sum();
    assertEquals(found, inHealth);
  }

  /** Starts, waits until both servers had so many lists of bookings, and stops. */
  private static Injector runUntil(ObjectNode settings, long lists, AcmeairServer... servers)
      throws Exception {
    return Injector.runUntil(
        settings,
        "lists of bookings came",
        () -> List.of(servers).stream().allMatch(server -> server.served("/byuser/") >= lists));
  }

  @Test
  void usersOfTheMonolithStayWithTheirServersAndSessions() throws Exception {
    try (AcmeairServer a = new AcmeairServer("acmeair_sessionid");
        AcmeairServer b = new AcmeairServer("acmeair_sessionid")) {
      Injector injector = runUntil(settings("acmeair-monolith", a, b), 100, a, b);
      assertNoErrors(injector);
      assertOutcomes(injector);
      long logins = requests(injector, "login");
      long logouts = requests(injector, "logout");
      assertEquals(a.sessions() + b.sessions(), logins - logouts);
      assertTrue(logins - logouts <= 6, "as many sessions as users at most");
      assertEquals(logins, a.served("/rest/api/login") + b.served("/rest/api/login") - logouts);
      assertEquals(logins / 4.0, (double) requests(injector, "view-profile"), 2);
      assertEquals(5.0 * logins, (double) requests(injector, "query-flight"), 6 * 5);
      assertTrue(requests(injector, "cancel-booking") > 0);
      assertTrue(
          injector.console().contains("bookings made per list: 0."), () -> injector.console());
    }
  }

  @Test
  void arrivalsOfTheOpenModelContinueJourneysWithTheirOwnCookies() throws Exception {
    try (AcmeairServer a = new AcmeairServer("Bearer");
        AcmeairServer b = new AcmeairServer("Bearer")) {
      ObjectNode settings = open(settings("acmeair-microservices", a, b), 400);
      settings.withObject("/parameters").put("visitsPerLogin", 2);
      Injector injector = runUntil(settings, 150, a, b);
      assertNoErrors(injector);
      assertOutcomes(injector);
      assertEquals(requests(injector, "login"), a.sessions() + b.sessions());
      assertTrue(requests(injector, "login") > 32, "visitors came back for another login");
      assertEquals(
          "2",
          injector.summary().at("/settings/parameters/visitsPerLogin").asText(),
          "as it was set");
      assertTrue(injector.summary().at("/operations/logout").isMissingNode());
      double share = (double) a.served("/") / (a.served("/") + b.served("/"));
      assertEquals(0.5, share, 0.01, "arrivals go round the servers");
    }
  }

  /** The microservices' plan at a monolith: each login is refused, and nothing else is tried. */
  @Test
  void failedLoginsStartOverAndSayWhatWasWrong() throws Exception {
    try (AcmeairServer server = new AcmeairServer("another")) {
      ObjectNode settings = settings("acmeair-microservices", server);
      Injector injector =
          Injector.runUntil(settings, "logins came", () -> server.served("/login") > 30);
      assertEquals(server.served("/"), requests(injector, "login"));
      assertEquals(server.served("/"), injector.healthSum("errors"));
      List<String> messages =
          StreamSupport.stream(injector.summary().get("errorMessages").spliterator(), false)
              .map(each -> each.get("operation").asText() + ": " + each.get("message").asText())
              .toList();
      assertEquals(1, messages.size(), messages.toString());
      assertEquals("login: the answer sets no cookie Bearer", messages.get(0));
    }
  }
}
