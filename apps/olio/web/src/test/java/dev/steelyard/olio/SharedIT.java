// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.steelyard.derbyserver.Main;
import dev.steelyard.olio.geocoder.Geocoder;
import dev.steelyard.olio.population.Names;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Processes;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two servers with one database, a server of Derby's, and one filestore. */
@Tag("full")
final class SharedIT {

  private static final int POSTERS = 8;
  private static final int EVENTS = 5;

  @TempDir Path folder;

  private final List<PackagedServer> servers = new ArrayList<>();
  private Process database;
  private int databasePort;
  private Geocoder geocoder;

  @BeforeEach
  void start() throws IOException, InterruptedException {
    geocoder = new Geocoder("127.0.0.1", 0, 0);
    geocoder.start();
    databasePort = Processes.freePort();
    database =
        Processes.program(
                List.of("-Xmx128m"),
                Main.class,
                "--port",
                Integer.toString(databasePort),
                "--folder",
                folder.resolve("database").toString())
            .redirectOutput(folder.resolve("database.log").toFile())
            .start();
    Map<String, String> environment = new HashMap<>();
    environment.put("JVM_ARGS", "-Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    environment.put("OLIO_DATABASE", "derby-network");
    environment.put("OLIO_DB_PORT", Integer.toString(databasePort));
    environment.put("OLIO_CONNECTIONS", "6");
    environment.put("OLIO_FILES", "small");
    environment.put("OLIO_FILES_MODE", "hardlink");
    environment.put("OLIO_FILESTORE", folder.resolve("files").toString());
    environment.put("OLIO_GEOCODER_URL", "http://127.0.0.1:" + geocoder.port());
    environment.put("OLIO_GEOCODER_READ_TIMEOUT", OlioServer.GEOCODER_PATIENCE);
    Path archive = Path.of(System.getProperty("server.archive"));
    for (String name : List.of("one", "two")) {
      servers.add(PackagedServer.of("olio", archive, folder.resolve(name), environment));
    }
    for (PackagedServer server : servers) {
      server.start();
    }
    for (PackagedServer server : servers) {
      server.awaitStatus("/olio/health/ready", 200);
    }
  }

  @AfterEach
  void end() throws IOException {
    servers.forEach(PackagedServer::close);
    servers.forEach(each -> each.process().onExit().join());
    database.destroyForcibly().onExit().join();
    geocoder.stop();
    for (String name : List.of("one", "two", "files")) {
      Folders.delete(folder.resolve(name));
    }
  }

  private OlioBrowser browser(int server) {
    return new OlioBrowser(servers.get(server).uri("/olio/"));
  }

  @Test
  void whatOneAddsTheOtherShowsAndNobodyWaitsInACircle() throws Exception {
    browser(0).get("load").must("The data set is a09caa684e482572.").must("Loaded.");
    browser(1).get("bench/info").must("\"dataSetHash\":\"a09caa684e482572\"");

    // All have the same tags, known and new, named in different orders.
    ExecutorService posters = Executors.newFixedThreadPool(POSTERS);
    List<Future<Integer>> posted = new ArrayList<>();
    for (int poster = 0; poster < POSTERS; poster++) {
      int person = 20 + poster;
      Callable<Integer> work =
          () -> {
            OlioBrowser browser = browser(person % 2).as(person);
            int last = 0;
            for (int i = 0; i < EVENTS; i++) {
              String known = "b00lp4smo c00m2e12 fresh" + i;
              last =
                  browser.posted(
                      OlioBrowser.event("by " + person, known + " common" + i + person % 2));
              browser.get("").must("Events");
            }
            return last;
          };
      posted.add(posters.submit(work));
    }
    for (Future<Integer> each : posted) {
      int id = each.get();
      for (int server = 0; server < servers.size(); server++) {
        browser(server).get("event/detail?socialEventID=" + id).must("E" + id + ".jpg");
        assertEquals(200, browser(server).get("access-artifacts/E" + id + "T.jpg").status());
      }
    }
    posters.shutdown();
    browser(1).get("consistency").must("consistent");
    browser(0).get("stats").must("\"events\":" + POSTERS * EVENTS);

    // Loaded again, everything is as it was.
    browser(1).get("load").must("The data set is a09caa684e482572.").must("removing uploads");
    browser(0).get("stats").must("\"stored\":{\"persons\":0,\"events\":0,\"attendances\":0}");
    int gone = posted.get(0).get();
    assertEquals(404, browser(0).get("access-artifacts/E" + gone + ".jpg").status());
  }

  private static String tagged(String tag) {
    return "tag/display?tag=" + tag;
  }

  private static String detail(int id) {
    return "event/detail?socialEventID=" + id;
  }

  private static void edit(OlioBrowser browser, int id, String title)
      throws IOException, InterruptedException {
    Map<String, Object> form = OlioBrowser.event(title, "edits steady");
    form.put("socialEventID", Integer.toString(id));
    assertEquals(id, browser.posted(form));
  }

  private void update(String sql) throws SQLException {
    String url = "jdbc:derby://127.0.0.1:" + databasePort + "/oliodb";
    try (Connection connection = DriverManager.getConnection(url, "olio", "olio");
        Statement statement = connection.createStatement()) {
      assertEquals(1, statement.executeUpdate(sql));
    }
  }

  /** What is read first on the other server is kept there. */
  @Test
  void whatOneChangesTheOtherDoesNotGoOnToAnswerFromWhatItKeeps() throws Exception {
    browser(0).get("load").must("Loaded.");
    OlioBrowser owner = browser(0).as(30);
    OlioBrowser elsewhere = browser(1).as(30);
    assertAll(
        () -> edits(owner, elsewhere),
        () -> deletions(owner),
        this::aPassword,
        () -> anEventThatIsStillBeingPosted(owner));
    browser(1).get("consistency").must("consistent");
  }

  private void edits(OlioBrowser owner, OlioBrowser elsewhere) throws Exception {
    int id = owner.posted(OlioBrowser.event("first title", "edits steady"));
    browser(1).get(detail(id)).must("first title");
    edit(owner, id, "second title");
    browser(1).get(tagged("edits")).must("second title");
    browser(1).get(detail(id)).must("second title");
    edit(owner, id, "third title");
    elsewhere.get("event/updateEvent?socialEventID=" + id).must("third title");
    browser(1).get(detail(id)).must("third title");

    // As it was kept is not as it is: it has to be written.
    edit(owner, id, "fourth title");
    edit(elsewhere, id, "third title");
    browser(0).get(tagged("edits")).must("third title");
    browser(1).get(detail(id)).must("third title");
    owner.get("person?actionType=display_myPostedEvents&user_name=" + Names.of(30)).must("third");

    // Of two tags the one that more events have is the larger.
    String before = browser(1).get(detail(id)).must(">edits<").body();
    for (int i = 0; i < EVENTS; i++) {
      owner.posted(OlioBrowser.event("with a tag", "edits"));
    }
    assertNotEquals(before, browser(1).get(detail(id)).body());
    assertEquals(browser(0).get(detail(id)).body(), browser(1).get(detail(id)).body());
  }

  private void deletions(OlioBrowser owner) throws Exception {
    for (String path :
        List.of(
            "api/event/addAttendee?",
            "api/event/deleteAttendee?",
            "api/event/getAttendees?",
            "api/event/getComments?",
            "api/event/updateCommentsRating?comment=late&",
            "api/event/updateRating?rating=3&",
            "event/updateEvent?",
            "event/delete?",
            "event/detail?")) {
      int id = owner.posted(OlioBrowser.event("goes", "going"));
      OlioBrowser other = browser(1).as(path.startsWith("api") ? 31 : 30);
      other.get(detail(id)).must("goes");
      assertEquals(302, owner.post("event/delete", "socialEventID=" + id).status());
      other.get(path + "socialEventID=" + id).must(404, "There is no event");
      other.get(detail(id)).must(404, "There is no event");
    }
  }

  private void aPassword() throws Exception {
    String path = "api/person/fileuploadPerson?user_name=";
    browser(0).upload(path + "moves", OlioBrowser.person("moves")).must("moves");
    OlioBrowser here = browser(0);
    here.post("person/login", "user_name=moves&password=secret");
    browser(1).post("person/login", "user_name=moves&password=secret");
    Map<String, Object> form = OlioBrowser.person("moves");
    form.put("password", "another");
    form.put("passwordx", "another");
    here.upload(path + "moves&isEditable=true", form).must("moves");
    OlioBrowser old = browser(1);
    old.post("person/login", "user_name=moves&password=secret");
    old.get("").must("the password is another one");
    OlioBrowser changed = browser(1);
    changed.post("person/login", "user_name=moves&password=another");
    changed.get("").must("Hello");
  }

  /** Its row is made to be as it is while one server stores its files and asks the geocoder. */
  private void anEventThatIsStillBeingPosted(OlioBrowser owner) throws Exception {
    int id = owner.posted(OlioBrowser.event("half of it", "half"));
    String whole = "UPDATE SOCIALEVENT SET EVENTTIMESTAMP = '2026-07-05 00:15:00', ";
    String half = "UPDATE SOCIALEVENT SET EVENTTIMESTAMP = NULL, ";
    String row = "IMAGETHUMBURL = %s, IMAGEURL = %s WHERE SOCIALEVENTID = " + id;
    update(half + row.formatted("NULL", "NULL"));
    browser(1).get(tagged("half")).must("There are no events.");
    String posted = "person?actionType=display_person&user_name=" + Names.of(30);
    assertFalse(browser(1).get(posted).must("Friends").body().contains("half of it"));
    browser(1).get(detail(id)).must(404, "There is no event");
    update(whole + row.formatted("'E" + id + "T.jpg'", "'E" + id + ".jpg'"));
    browser(1).get(detail(id)).must("E" + id + ".jpg");
    browser(1).get(tagged("half")).must("E" + id + "T.jpg");
    browser(1).get(posted).must("half of it");
  }
}
