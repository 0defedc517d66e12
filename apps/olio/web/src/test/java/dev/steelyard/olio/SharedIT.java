// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.olio.geocoder.Geocoder;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Processes;
import java.io.IOException;
import java.nio.file.Path;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two servers with one database, a server of Derby's, and one filestore. */
final class SharedIT {

  private static final int POSTERS = 8;
  private static final int EVENTS = 5;

  @TempDir Path folder;

  private final List<PackagedServer> servers = new ArrayList<>();
  private Process database;
  private Geocoder geocoder;

  @BeforeEach
  void start() throws IOException, InterruptedException {
    geocoder = new Geocoder("127.0.0.1", 0, 0);
    geocoder.start();
    int port = Processes.freePort();
    database =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.steelyard.derbyserver.Main",
                "--port",
                Integer.toString(port),
                "--folder",
                folder.resolve("database").toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("database.log").toFile())
            .start();
    Map<String, String> environment = new HashMap<>();
    environment.put("JVM_ARGS", "-Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    environment.put("OLIO_DATABASE", "derby-network");
    environment.put("OLIO_DERBY_PORT", Integer.toString(port));
    environment.put("OLIO_CONNECTIONS", "6");
    environment.put("OLIO_FILES", "small");
    environment.put("OLIO_FILES_MODE", "hardlink");
    environment.put("OLIO_FILESTORE", folder.resolve("files").toString());
    environment.put("OLIO_GEOCODER_URL", "http://127.0.0.1:" + geocoder.port());
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
}
