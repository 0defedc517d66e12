// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import dev.steelyard.olio.geocoder.Geocoder;
import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.OncePerRun;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Processes;
import dev.steelyard.testkit.StatementLog;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The packaged server with Derby in it, small files and a geocoder, loaded; and started again, so
 * that only what the tests do stands in the log of statements.
 */
public final class OlioServer implements AutoCloseable {

  /**
   * Milliseconds that it waits for the geocoder, unless a test says otherwise: a busy machine is no
   * slow geocoder.
   */
  static final String GEOCODER_PATIENCE = "60000";

  /** Questions about tables, and readiness. */
  private static final Pattern NOBODYS = Pattern.compile("SYS\\.|SYSIBM|DATASET");

  private static final String QUICK = "-Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1";

  /** Gives tests the one that all of them share. */
  public static final class Shared extends OncePerRun<OlioServer> {
    public Shared() {
      super(OlioServer.class, () -> started(Map.of()));
    }
  }

  private final Path folder;
  private final PackagedServer server;
  private final StatementLog statements;
  private final int geocoderPort;
  private final String loadSaid;
  private Geocoder geocoder;

  private OlioServer(
      Path folder,
      PackagedServer server,
      StatementLog statements,
      Geocoder geocoder,
      String loadSaid) {
    this.folder = folder;
    this.server = server;
    this.statements = statements;
    this.geocoder = geocoder;
    this.geocoderPort = geocoder.port();
    this.loadSaid = loadSaid;
  }

  /**
   * Starts one.
   *
   * @param settings beside those that all tests have
   */
  static OlioServer started(Map<String, String> settings) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("olio");
    Path log = folder.resolve("derby.log");
    // A port that stays free while no geocoder listens on it.
    Geocoder geocoder = new Geocoder("127.0.0.1", Processes.freePort(), 0);
    geocoder.start();
    Map<String, String> environment = new HashMap<>();
    environment.put("JVM_ARGS", QUICK);
    environment.put("OLIO_CONNECTIONS", "10");
    environment.put("OLIO_SCALE", "25");
    environment.put("OLIO_FILES", "small");
    environment.put("OLIO_FILESTORE", folder.resolve("files").toString());
    environment.put("OLIO_DERBY_FOLDER", folder.resolve("data/derby").toString());
    environment.put("OLIO_GEOCODER_URL", "http://127.0.0.1:" + geocoder.port());
    environment.put("OLIO_GEOCODER_READ_TIMEOUT", GEOCODER_PATIENCE);
    environment.putAll(settings);
    Path archive = Path.of(System.getProperty("server.archive"));
    PackagedServer loader = PackagedServer.of("olio", archive, folder, environment);
    String said;
    try (loader) {
      loader.start();
      loader.awaitStatus("/olio/health/started", 200);
      said = loader.get("/olio/load").body();
      if (!said.endsWith("Loaded.\n")) {
        throw new IllegalStateException(said + loader.printed());
      }
      loader.stop();
    }
    environment.put(
        "JVM_ARGS",
        QUICK + " -Dderby.language.logStatementText=true -Dderby.stream.error.file=" + log);
    PackagedServer server =
        new PackagedServer("olio", folder.resolve("wlp"), folder, loader.port(), environment);
    try {
      server.start();
      server.awaitStatus("/olio/health/started", 200);
    } catch (IOException | InterruptedException | RuntimeException e) {
      server.close();
      throw e;
    }
    return new OlioServer(folder, server, new StatementLog(log, NOBODYS), geocoder, said);
  }

  /** The server itself. */
  public PackagedServer packaged() {
    return server;
  }

  /** Where the files are. */
  public Path filestore() {
    return folder.resolve("files");
  }

  /** The names of Liberty's reports of failures (FFDC), one for each that it saw first. */
  public Set<String> failureReports() throws IOException {
    Path reports = folder.resolve("logs/ffdc");
    if (!Files.exists(reports)) {
      return Set.of();
    }
    try (Stream<Path> files = Files.list(reports)) {
      return files.map(each -> each.getFileName().toString()).collect(Collectors.toSet());
    }
  }

  /** What the load said. */
  public String loadSaid() {
    return loadSaid;
  }

  /** The statements that it has sent to its database. */
  public StatementLog statements() {
    return statements;
  }

  /** Somebody with a browser. */
  public OlioBrowser browser() {
    return new OlioBrowser(server.uri("/olio/"));
  }

  /** Stops the geocoder, or starts another one in its place. */
  public void geocoder(boolean on, int delayMillis) throws IOException {
    geocoder.stop();
    if (on) {
      geocoder = new Geocoder("127.0.0.1", geocoderPort, delayMillis);
      geocoder.start();
    }
  }

  /** What it tells of itself. */
  public JsonObject json(String path) throws IOException, InterruptedException {
    try (JsonReader reader = Json.createReader(new StringReader(server.get(path).body()))) {
      return reader.readObject();
    }
  }

  /** One of the counts of {@code /stats}. */
  public int count(String name) throws IOException, InterruptedException {
    return json("/olio/stats").getInt(name);
  }

  @Override
  public void close() throws IOException {
    geocoder.stop();
    server.close();
    server.process().onExit().join();
    Folders.delete(folder);
  }
}
