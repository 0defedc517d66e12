// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.steelyard.olio.geocoder.Geocoder;
import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.EndlessLoad;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.PostgreSql;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
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

  private static final String EVENTS_OF_LOAD =
      "SELECT SOCIALEVENTID FROM SOCIALEVENT WHERE TITLE LIKE 'by %' AND ";

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
    environment.put("OLIO_GEOCODER_READ_TIMEOUT", OlioServer.GEOCODER_PATIENCE);
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
    EndlessLoad load = new EndlessLoad(POSTERS, PostgreSqlIT::poster);
    load.killAndRestart(database, EVENTS);
    Set<String> begun;
    try (Connection connection = database.connection()) {
      load.assertAllThere(
          connection, EVENTS_OF_LOAD + "IMAGEURL IS NOT NULL AND ADDRESS_ADDRESSID IS NOT NULL");
      begun = EndlessLoad.keys(connection, EVENTS_OF_LOAD + "IMAGEURL IS NULL");
    }
    // An event is posted in two transactions, its files between them. The database that died there
    // could not be asked to take back the first: nobody was told of these.
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

  private static EndlessLoad.Step poster(EndlessLoad load, int number)
      throws IOException, InterruptedException {
    int person = 20 + number;
    OlioBrowser user = browser().as(person);
    return () -> {
      Map<String, Object> event = OlioBrowser.event("by " + person, "b00lp4smo fresh" + person);
      Answer answer = user.upload("api/event/addEvent", event);
      Matcher posted = POSTED.matcher(answer.status() == 302 ? answer.location() : "");
      if (posted.matches()) {
        load.acknowledge(posted.group(1));
      } else {
        load.refuse(answer);
      }
    };
  }
}
