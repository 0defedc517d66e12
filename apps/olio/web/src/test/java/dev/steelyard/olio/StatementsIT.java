// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import dev.steelyard.olio.population.Names;
import dev.steelyard.testkit.CountedOperations;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Statements of each operation: those of the original without its caches. What this JVM keeps, an
 * event or an address that was read before and the fragments of the home page, takes some away.
 */
@Tag("full")
@ExtendWith(OlioServer.Shared.class)
final class StatementsIT {

  @Test
  void eachOperationSendsTheStatementsOfTheTable(OlioServer server) throws Exception {
    CountedOperations counted = new CountedOperations(server.statements());
    OlioBrowser user = server.browser();
    String name = Names.of(900);
    String word = Names.of(1);
    // Nothing of what follows was read before: other tests have other persons and events.
    int event = 1700;
    String page = "event/detail?socialEventID=" + event;
    user.as(3).posted(OlioBrowser.event("clears what is kept", word));
    OlioBrowser anybody = server.browser();
    counted.perform("home: list, count, tags", "S3", () -> anybody.get("").must("Events"));
    counted.perform("home, kept", "S0", () -> anybody.get("event/list").must("Events"));
    counted.perform(
        "another page of the list", "S2", () -> anybody.get("event/list?index=3").must("Events"));
    counted.perform(
        "login: person",
        "S1",
        () -> anybody.post("person/login", "user_name=" + name + "&password=900"));
    counted.perform("home: requests, next events", "S2", () -> anybody.get("").must(name));
    counted.perform("home again", "S0", () -> anybody.get("").must(name));
    counted.perform(
        "tag: word, events",
        "S2",
        () -> anybody.get("tag/display?tag=" + word).must("Events tagged"));
    counted.perform(
        "tag by form",
        "S2",
        () -> anybody.post("tag/display", "tag=" + word).must("Events tagged"));
    counted.perform(
        "unknown tag", "S1", () -> anybody.get("tag/display?tag=none").must("no events"));
    counted.perform("logout", "S0", () -> anybody.get("logout"));
    counted.perform(
        "event: itself, address, attendees, tags, comments",
        "S5",
        () -> anybody.get(page).must("Comments"));
    counted.perform("event, kept", "S3", () -> anybody.get(page).must("Comments"));
    counted.perform(
        "person: himself, address, events, friends",
        "S4",
        () ->
            anybody
                .get("person?actionType=display_person&user_name=" + Names.of(901))
                .must("Friends"));
    OlioBrowser other = server.browser().as(902);
    other.get("");
    counted.perform(
        "own page: invitations both ways",
        "S6",
        () ->
            other
                .get("person?actionType=display_person&user_name=" + Names.of(902))
                .must("Friendship requests"));
    counted.perform(
        "attend: the event and a row",
        "S3 I1",
        () -> other.get("api/event/addAttendee?socialEventID=" + event).must("\"added\""));
    counted.perform(
        "attend again",
        "S3",
        () -> other.get("api/event/addAttendee?socialEventID=" + event).must("\"attending\""));
    other.get("");
    counted.perform(
        "form of an event", "S0", () -> other.get("event/addEvent").must("Add an event"));
    // Two known tags and a new one.
    int posted =
        counted.perform(
            "add event",
            "S1 I6 U3",
            () ->
                other.posted(
                    OlioBrowser.event("counted", word + " " + Names.of(2) + " quitenew " + word)));
    counted.perform(
        "the event that was added",
        "S3",
        () -> other.get("event/detail?socialEventID=" + posted).must("counted"));
    counted.perform(
        "form of a person", "S0", () -> server.browser().get("person/addPerson").must("Register"));
    // Its page: the person, events, friends; the address was written here.
    counted.perform(
        "add person",
        "S4 I2 U1",
        () ->
            server
                .browser()
                .upload(
                    "api/person/fileuploadPerson?user_name=counted1",
                    OlioBrowser.person("counted1"))
                .must("counted1"));
    counted.perform(
        "a picture", "S0", () -> server.packaged().get("/olio/access-artifacts/e1t.jpg"));
    counted.compare();
  }
}
