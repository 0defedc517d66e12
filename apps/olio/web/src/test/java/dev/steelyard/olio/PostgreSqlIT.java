// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.steelyard.olio.geocoder.Geocoder;
import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.PostgreSql;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * On PostgreSQL every page answers as on Derby; and a database that is killed under load has, once
 * it runs again, each event that a user was told of.
 */
@Tag("full")
final class PostgreSqlIT {

  private static final int POSTERS = 6;

  /** Events before the kill, and after the database is back. */
  private static final int EVENTS = 60;

  private static final Pattern POSTED =
      Pattern.compile(".*/event/detail\\?socialEventID=(\\d+)&from=add-event");

  private static Path folder;
  private static PostgreSql database;
  private static Geocoder geocoder;
  private static PackagedServer server;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    folder = Files.createTempDirectory("olio-postgresql");
    geocoder = new Geocoder("127.0.0.1", 0, 0);
    geocoder.start();
    String missing = PostgreSql.missing();
    assumeTrue(missing.isEmpty(), missing);
    database = PostgreSql.in(folder.resolve("database"));
    Map<String, String> environment = new HashMap<>(database.environment("OLIO"));
    environment.put("JVM_ARGS", "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    environment.put("OLIO_CONNECTIONS", "10");
    environment.put("OLIO_FILES", "small");
    environment.put("OLIO_FILES_MODE", "hardlink");
    environment.put("OLIO_FILESTORE", folder.resolve("files").toString());
    environment.put("OLIO_GEOCODER_URL", "http://127.0.0.1:" + geocoder.port());
    Path archive = Path.of(System.getProperty("server.archive"));
    server = PackagedServer.of("olio", archive, folder, environment);
    server.start();
    server.awaitStatus("/olio/health/started", 200);
    load();
  }

  @AfterAll
  static void end() throws IOException, InterruptedException {
    if (server != null) {
      server.close();
      server.process().onExit().join();
    }
    if (database != null) {
      database.stop();
    }
    geocoder.stop();
    Folders.delete(folder);
  }

  /** The data is the same as on Derby, to its hash. */
  private static void load() throws IOException, InterruptedException {
    browser().get("load").must("The data set is a09caa684e482572.").must("Loaded.");
  }

  private static OlioBrowser browser() {
    return new OlioBrowser(server.uri("/olio/"));
  }

  @TestFactory
  Stream<DynamicTest> pages() throws IOException {
    return ContractIT.tests(server, "PostgreSQL", "pages.yaml");
  }

  @TestFactory
  Stream<DynamicTest> badInput() throws IOException {
    return ContractIT.tests(server, "PostgreSQL", "bad-input.yaml");
  }

  @Test
  void aDatabaseThatIsKilledHasLostNoEvent() throws Exception {
    load();
    assertTrue(server.get("/olio/bench/info").body().contains("PostgreSQL"));
    Load load = new Load();
    Waiting.await("events", () -> load.told.size() >= EVENTS);
    database.kill();
    int before = load.told.size();
    Waiting.await("the load meets the dead database", () -> !load.refused.isEmpty());
    database.start();
    Waiting.await("events once more", () -> load.told.size() >= before + EVENTS);
    load.end();
    assertEquals(List.of(), List.copyOf(load.wrong), "answers that are neither right nor errors");
    Set<Integer> lost = new HashSet<>(load.told);
    assertEquals(load.told.size(), lost.size(), "a number was given twice");
    lost.removeAll(events("IMAGEURL IS NOT NULL AND ADDRESS_ADDRESSID IS NOT NULL"));
    assertEquals(Set.of(), lost, "events that users were told of, with all that belongs to them");
    // An event is posted in two transactions, its files between them. The database that died there
    // could not be asked to take back the first: nobody was told of these.
    Set<Integer> begun = events("IMAGEURL IS NULL");
    assertTrue(begun.size() <= POSTERS, begun::toString);
    String expected =
        begun.isEmpty()
            ? "consistent\n"
            : "each event has an address, files and a submitter who is registered: "
                + begun.size()
                + "\n";
    assertEquals(expected, server.get("/olio/consistency").body());
    load();
    assertEquals("consistent\n", server.get("/olio/consistency").body());
  }

  /** Users who post events without end, whatever they are answered. */
  private static final class Load {
    final ConcurrentLinkedQueue<Integer> told = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<Integer> refused = new ConcurrentLinkedQueue<>();
    private final List<Future<Void>> sessions = new ArrayList<>();
    private volatile boolean ended;

    Load() {
      ExecutorService posters = Executors.newFixedThreadPool(POSTERS);
      for (int poster = 0; poster < POSTERS; poster++) {
        int person = 20 + poster;
        sessions.add(posters.submit(() -> post(person)));
      }
      posters.shutdown();
    }

    void end() throws Exception {
      ended = true;
      for (Future<Void> session : sessions) {
        session.get();
      }
    }

    private Void post(int person) throws IOException, InterruptedException {
      OlioBrowser user = browser().as(person);
      while (!ended) {
        Map<String, Object> event = OlioBrowser.event("by " + person, "b00lp4smo fresh" + person);
        Answer answer = user.upload("api/event/addEvent", event);
        Matcher posted = POSTED.matcher(answer.status() == 302 ? answer.location() : "");
        if (posted.matches()) {
          told.add(Integer.valueOf(posted.group(1)));
        } else if (answer.status() >= 500) {
          refused.add(answer.status());
        } else {
          wrong.add(answer.status() + ": " + answer.body());
        }
      }
      return null;
    }
  }

  /** Keys of the events of the load of which something holds. */
  private static Set<Integer> events(String condition) throws SQLException {
    Set<Integer> found = new HashSet<>();
    try (Connection connection = database.connection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT SOCIALEVENTID FROM SOCIALEVENT WHERE TITLE LIKE 'by %' AND " + condition)) {
      while (rows.next()) {
        found.add(rows.getInt(1));
      }
    }
    return found;
  }
}
