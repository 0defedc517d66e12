// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.olio.population.FileKind;
import dev.steelyard.olio.population.FileSizes;
import dev.steelyard.olio.population.Names;
import dev.steelyard.testkit.Browser.Answer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Persons and events that are added with files, and what goes wrong with that. */
@Tag("full")
@ExtendWith(OlioServer.Shared.class)
final class UploadsIT {

  private static final String PERSON = "api/person/fileuploadPerson?user_name=";

  private static final int WANT = 6;
  private static final int NAMES = 5;

  private final OlioServer server;

  UploadsIT(OlioServer server) {
    this.server = server;
  }

  private byte[] file(String name) throws IOException, InterruptedException {
    HttpResponse<byte[]> answer =
        server
            .packaged()
            .send(
                HttpRequest.newBuilder(server.packaged().uri("/olio/access-artifacts/" + name)),
                HttpResponse.BodyHandlers.ofByteArray());
    assertEquals(200, answer.statusCode(), name);
    return answer.body();
  }

  private Set<String> files() throws IOException {
    Set<String> files = new TreeSet<>();
    try (Stream<Path> paths = Files.walk(server.filestore().getParent())) {
      paths
          .filter(
              each ->
                  each.getFileName().toString().matches("(?i)[pe]\\d+[tl]?\\..*|x\\..*|.*\\.part"))
          .forEach(each -> files.add(each.toString()));
    }
    return files;
  }

  @Test
  void aPersonRegistersAndHasPictures() throws Exception {
    int added = server.count("personsAdded");
    OlioBrowser browser = server.browser();
    Answer page = browser.upload(PERSON + "ada", OlioBrowser.person("ada"));
    page.must("<h1>ada</h1>").must("writes programs").must("12 Müller St").must("Username");
    String thumbnail = page.all("access-artifacts/(P\\d+T\\.jpg)").get(0);
    var picture = ImageIO.read(new ByteArrayInputStream(file(thumbnail)));
    assertEquals(133, picture.getWidth());
    assertArrayEquals(OlioBrowser.PICTURE, file(thumbnail.replace("T.", ".")));
    assertEquals(added + 1, server.count("personsAdded"));
    assertEquals(302, browser.post("person/login", "user_name=ada&password=secret").status());
    browser.get("event/list").must("Hello");

    Map<String, Object> changed = OlioBrowser.person("somebody");
    changed.remove("upload_person_image");
    changed.put("summary", "<b>counts</b>");
    browser
        .upload(PERSON + "ada&isEditable=true", changed)
        .must("&lt;b&gt;counts&lt;/b&gt;")
        .must(thumbnail);
    server.browser().upload(PERSON + "ada&isEditable=true", changed).must(401, "Log in first");
  }

  @Test
  void anEventIsPostedChangedAndDeleted() throws Exception {
    int added = server.count("eventsAdded");
    OlioBrowser browser = server.browser().as(11);
    String tag = Names.of(3);
    int id = browser.posted(OlioBrowser.event("A <party>", "Newtag " + tag + " newtag"));
    assertTrue(id > 10_000_000);
    assertEquals(added + 1, server.count("eventsAdded"));
    Answer page = browser.get("event/detail?socialEventID=" + id).must("A &lt;party&gt;");
    // A quarter past eight in the evening in New York.
    page.must("Sun, 5 Jul 2026, 00:15").must("latitude 33.0, longitude -177.0").must(">newtag<");
    assertArrayEquals(OlioBrowser.PICTURE, file("E" + id + ".jpg"));
    assertEquals(4000, file("E" + id + "L.pdf").length);
    browser.get("event/list?day=5&month=7&year=2026").must("A &lt;party&gt;").must("Delete");
    browser.get("tag/display?tag=newtag").must("A &lt;party&gt;");
    browser.get("event/updateEvent?socialEventID=" + id).must(tag + " newtag");
    browser.post("event/updateEvent", "socialEventID=" + id).must(tag + " newtag");

    Map<String, Object> changed = OlioBrowser.event("Another party", tag);
    changed.remove("upload_event_image");
    changed.put("socialEventID", Integer.toString(id));
    assertEquals(id, browser.posted(changed));
    browser.get("event/detail?socialEventID=" + id).must("Another party").must("E" + id + ".jpg");
    browser.get("tag/display?tag=newtag").must("There are no events.");
    server.browser().as(12).upload("api/event/addEvent", changed).must(403, "Only who");

    server.browser().as(12).get("api/event/addAttendee?socialEventID=" + id).must("added");
    assertEquals(302, browser.post("event/delete", "socialEventID=" + id).status());
    browser.get("event/detail?socialEventID=" + id).must(404, "There is no event");
    assertEquals(404, browser.get("access-artifacts/E" + id + ".jpg").status());
    browser.get("consistency").must("consistent");
  }

  @Test
  void whatIsRefusedLeavesNothing() throws Exception {
    Set<String> before = files();
    int persons = server.json("/olio/stats").getJsonObject("stored").getInt("persons");
    OlioBrowser anybody = server.browser();
    Map<String, Object> person = OlioBrowser.person("refused");
    person.put("upload_person_image", "no picture".getBytes(StandardCharsets.UTF_8));
    anybody.upload(PERSON + "refused", person).must(400, "not a JPEG picture");
    person.put("upload_person_image", new byte[5_000_001]);
    anybody.upload(PERSON + "refused", person).must(413, "5 MB");
    person.put("upload_person_image", new byte[12_000_001]);
    anybody.upload(PERSON + "refused", person).must(413, "12 MB");
    person.remove("upload_person_image");
    anybody.upload(PERSON + "refused", person).must(400, "upload_person_image is missing");
    anybody.upload(PERSON + "x", OlioBrowser.person(Names.of(1))).must(409, "is taken");
    anybody.upload(PERSON + "x", OlioBrowser.person("../x")).must(400, "letters, digits");
    Map<String, Object> nameless = OlioBrowser.person("refused");
    nameless.put("last_name", " ");
    anybody.upload(PERSON + "refused", nameless).must(400, "last_name is missing");
    Map<String, Object> other = OlioBrowser.person("refused");
    other.put("passwordx", "another");
    anybody.upload(PERSON + "refused", other).must(400, "not the same");
    Map<String, Object> longer = OlioBrowser.person("refused");
    longer.put("summary", "x".repeat(2501));
    anybody.upload(PERSON + "refused", longer).must(400, "longer than 2500");

    OlioBrowser user = server.browser().as(13);
    Map<String, Object> event = OlioBrowser.event("refused", "a");
    event.put("month", "13");
    user.upload("api/event/addEvent", event).must(400, "no such time");
    event = OlioBrowser.event("refused", "x".repeat(31));
    user.upload("api/event/addEvent", event).must(400, "longer than 30");
    event = OlioBrowser.event("", "a");
    user.upload("api/event/addEvent", event).must(400, "title is missing");
    assertEquals(before, files());
    assertEquals(persons, server.json("/olio/stats").getJsonObject("stored").getInt("persons"));
  }

  @Test
  void aFilestoreThatTakesNothingIsToldAndNothingIsAdded() throws Exception {
    // A file in place of the folder, since nothing is read-only to some users who run tests.
    Path folder = server.filestore().resolve("eventThumbs");
    Path away = server.filestore().resolve("away");
    OlioBrowser browser = server.browser().as(14);
    int stored = server.json("/olio/stats").getJsonObject("stored").getInt("events");
    Files.move(folder, away);
    Files.createFile(folder);
    try {
      browser
          .upload("api/event/addEvent", OlioBrowser.event("lost", "lost"))
          .must(503, "not be stored");
      browser.get("access-artifacts/e1t.jpg").must(500, "could not be done");
    } finally {
      Files.delete(folder);
      Files.move(away, folder);
    }
    assertEquals(stored, server.json("/olio/stats").getJsonObject("stored").getInt("events"));
    browser.get("tag/display?tag=lost").must("There are no events.");
    browser.get("consistency").must("consistent");
    assertTrue(browser.posted(OlioBrowser.event("found", "lost")) > 0);
  }

  @Test
  void aChangeThatCannotBeStoredLeavesThePicturesOfBefore() throws Exception {
    OlioBrowser browser = server.browser().as(16);
    int id = browser.posted(OlioBrowser.event("kept", "kept"));
    byte[] thumbnail = file("E" + id + "T.jpg");
    Path folder = server.filestore().resolve("eventThumbs");
    Path away = server.filestore().resolve("away");
    Map<String, Object> changed = OlioBrowser.event("changed", "changed");
    changed.put("socialEventID", Integer.toString(id));
    changed.put("upload_event_image", FileKind.PERSON.content(FileSizes.SMALL));
    Files.move(folder, away);
    Files.createFile(folder);
    try {
      browser.upload("api/event/addEvent", changed).must(503, "not be stored");
    } finally {
      Files.delete(folder);
      Files.move(away, folder);
    }
    assertArrayEquals(OlioBrowser.PICTURE, file("E" + id + ".jpg"));
    assertArrayEquals(thumbnail, file("E" + id + "T.jpg"));
    browser.get("event/detail?socialEventID=" + id).must("kept");
    assertEquals(id, browser.posted(changed));
    assertArrayEquals(FileKind.PERSON.content(FileSizes.SMALL), file("E" + id + ".jpg"));
  }

  @Test
  void aPersonWhosePictureIsNotStoredIsNotRegisteredAndCanTryAgain() throws Exception {
    Path folder = server.filestore().resolve("personThumbs");
    Path away = server.filestore().resolve("persons-away");
    int stored = server.json("/olio/stats").getJsonObject("stored").getInt("persons");
    Set<String> before = files();
    OlioBrowser browser = server.browser();
    Files.move(folder, away);
    Files.createFile(folder);
    try {
      browser.upload(PERSON + "eve", OlioBrowser.person("eve")).must(503, "not be stored");
    } finally {
      Files.delete(folder);
      Files.move(away, folder);
    }
    assertEquals(before, files());
    assertEquals(stored, server.json("/olio/stats").getJsonObject("stored").getInt("persons"));
    browser.get("person?actionType=display_person&user_name=eve").must(404, "There is no person");
    browser.upload(PERSON + "eve", OlioBrowser.person("eve")).must("<h1>eve</h1>");
    browser.get("consistency").must("consistent");
  }

  @Test
  void ofManyWhoWantANameAtOnceOneGetsItAndNoFailureIsReported() throws Exception {
    server.browser().upload(PERSON + "wanted0", OlioBrowser.person("wanted0")).must("wanted0");
    Set<String> reports = server.failureReports();
    ExecutorService many = Executors.newFixedThreadPool(WANT);
    try {
      for (int name = 0; name < NAMES; name++) {
        String wanted = "wanted" + name;
        List<Callable<Integer>> attempts =
            Collections.nCopies(
                WANT,
                () ->
                    server.browser().upload(PERSON + wanted, OlioBrowser.person(wanted)).status());
        List<Integer> statuses = new ArrayList<>();
        for (Future<Integer> each : many.invokeAll(attempts)) {
          statuses.add(each.get());
        }
        // The first name was taken before.
        assertEquals(name == 0 ? 0 : 1, Collections.frequency(statuses, 200), statuses::toString);
        assertEquals(name == 0 ? WANT : WANT - 1, Collections.frequency(statuses, 409));
      }
    } finally {
      many.shutdown();
    }
    server.browser().get("event/detail?socialEventID=999999").must(404, "There is no event");
    assertEquals(reports, server.failureReports());
    server.browser().get("consistency").must("consistent");
  }

  @Test
  void withoutAGeocoderOperationsGoOn() throws Exception {
    OlioBrowser browser = server.browser().as(15);
    int failures = server.count("geocoderFailures");
    int nowhere;
    try {
      server.geocoder(false, 0);
      nowhere = browser.posted(OlioBrowser.event("nowhere", "a"));
      browser.get("event/detail?socialEventID=" + nowhere).must("latitude 0.0, longitude 0.0");
      browser.get("event/list").must("class=\"events\"");
      // Requests are sent to it as before; a load that is to begin would wait.
      assertEquals(200, server.packaged().get("/olio/health/ready").statusCode());
      assertEquals(503, server.packaged().get("/olio/health/started").statusCode());
      assertEquals(503, server.packaged().get("/olio/health").statusCode());
    } finally {
      server.geocoder(true, 0);
    }
    assertEquals(failures + 1, server.count("geocoderFailures"));
    int id = browser.posted(OlioBrowser.event("somewhere", "a"));
    browser.get("event/detail?socialEventID=" + id).must("latitude 33.0, longitude -177.0");
    assertEquals(failures + 1, server.count("geocoderFailures"));

    // A run with such an event is void, whichever server posted it.
    browser
        .get("consistency")
        .must("the geocoder told the place of each address that was added: 1");
    assertEquals(302, browser.post("event/delete", "socialEventID=" + nowhere).status());
    browser.get("consistency").must("consistent");
  }

  @Test
  void aLoadTellsItsProgressAndHash() throws Exception {
    String hash = server.json("/olio/bench/info").getString("dataSetHash");
    String said = server.loadSaid();
    assertTrue(said.contains("2500 persons, 1866 events, 622 tags"), said);
    assertTrue(said.contains("The data set is " + hash + "."), said);
    // Another hash is another data set: results with it are not comparable, and the workload's
    // version has to say so.
    assertEquals("a09caa684e482572", hash);
    assertFalse(said.contains("failed"), said);
  }
}
