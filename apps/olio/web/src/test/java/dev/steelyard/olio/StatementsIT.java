// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.olio.population.Names;
import dev.steelyard.testkit.StatementLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

/**
 * Statements of each operation: those of the original without its caches. What this JVM keeps, an
 * event or an address that was read before and the fragments of the home page, takes some away.
 */
@ExtendWith(OlioServer.Shared.class)
final class StatementsIT {

  private final List<Executable> comparisons = new ArrayList<>();
  private OlioServer server;

  private <T> T operation(String name, String statements, Callable<T> work) throws Exception {
    long end = server.statements().end();
    T result = work.call();
    var counted = server.statements().since(end).statements();
    comparisons.add(() -> assertEquals(StatementLog.Counts.of(statements), counted, name));
    return result;
  }

  @Test
  void eachOperationSendsTheStatementsOfTheTable(OlioServer shared) throws Exception {
    server = shared;
    Browser user = server.browser();
    String name = Names.of(900);
    String word = Names.of(1);
    // Nothing of what follows was read before: other tests have other persons and events.
    int event = 1700;
    String page = "event/detail?socialEventID=" + event;
    user.as(3).posted(Browser.event("clears what is kept", word));
    Browser anybody = server.browser();
    operation("home: list, count, tags", "S3", () -> anybody.get("").must("Events"));
    operation("home, kept", "S0", () -> anybody.get("event/list").must("Events"));
    operation(
        "another page of the list", "S2", () -> anybody.get("event/list?index=3").must("Events"));
    operation(
        "login: person",
        "S1",
        () -> anybody.post("person/login", "user_name=" + name + "&password=900"));
    operation("home: requests, next events", "S2", () -> anybody.get("").must(name));
    operation("home again", "S0", () -> anybody.get("").must(name));
    operation(
        "tag: word, events",
        "S2",
        () -> anybody.get("tag/display?tag=" + word).must("Events tagged"));
    operation(
        "tag by form",
        "S2",
        () -> anybody.post("tag/display", "tag=" + word).must("Events tagged"));
    operation("unknown tag", "S1", () -> anybody.get("tag/display?tag=none").must("no events"));
    operation("logout", "S0", () -> anybody.get("logout"));
    operation(
        "event: itself, address, attendees, tags, comments",
        "S5",
        () -> anybody.get(page).must("Comments"));
    operation("event, kept", "S3", () -> anybody.get(page).must("Comments"));
    operation(
        "person: himself, address, events, friends",
        "S4",
        () ->
            anybody
                .get("person?actionType=display_person&user_name=" + Names.of(901))
                .must("Friends"));
    Browser other = server.browser().as(902);
    other.get("");
    operation(
        "own page: invitations both ways",
        "S6",
        () ->
            other
                .get("person?actionType=display_person&user_name=" + Names.of(902))
                .must("Friendship requests"));
    operation(
        "attend: the event and a row",
        "S3 I1",
        () -> other.get("api/event/addAttendee?socialEventID=" + event).must("\"added\""));
    operation(
        "attend again",
        "S3",
        () -> other.get("api/event/addAttendee?socialEventID=" + event).must("\"attending\""));
    other.get("");
    operation("form of an event", "S0", () -> other.get("event/addEvent").must("Add an event"));
    // Two known tags and a new one.
    int posted =
        operation(
            "add event",
            "S1 I6 U3",
            () ->
                other.posted(
                    Browser.event("counted", word + " " + Names.of(2) + " quitenew " + word)));
    operation(
        "the event that was added",
        "S3",
        () -> other.get("event/detail?socialEventID=" + posted).must("counted"));
    operation(
        "form of a person", "S0", () -> server.browser().get("person/addPerson").must("Register"));
    // Its page: the person, events, friends; the address was written here.
    operation(
        "add person",
        "S4 I2 U1",
        () ->
            server
                .browser()
                .upload(
                    "api/person/fileuploadPerson?user_name=counted1", Browser.person("counted1"))
                .must("counted1"));
    operation("a picture", "S0", () -> server.packaged().get("/olio/access-artifacts/e1t.jpg"));
    assertAll(comparisons);
  }
}
