// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import dev.steelyard.testkit.Folders;
import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Servers of the package and one database process with a database for each. Started once for all
 * tests, which is what takes long: first the servers, then, when they have been seen to be alive
 * without it, the database.
 *
 * <p>Time limits of calls between services are long, since a busy machine is no failing service.
 */
final class Deployment implements AutoCloseable {

  /** The servers of the microservices. */
  static final List<String> SERVICES = List.of("auth", "customer", "flight", "booking", "main");

  /** Those with a database. */
  static final List<String> WITH_DATABASE = List.of("customer", "flight", "booking");

  /** Makes a database whose files lie in a folder. */
  @FunctionalInterface
  interface DatabaseKind {
    Database in(Path folder) throws IOException;
  }

  private static final String LONG = "60000";

  /** How long an operation looks for a database that is away; a login looks several times. */
  private static final String SHORT = "500";

  private static final Map<String, String> LIMITS =
      Map.of(
          "MONGO_SERVERSELECTIONTIMEOUT", SHORT,
          "MONGO_CONNECTTIMEOUT", LONG,
          "MONGO_MAXWAITTIME", LONG,
          "MONGO_SOCKETTIMEOUT", LONG,
          "ACMEAIR_VALIDATEID_TIMEOUT", LONG,
          "ACMEAIR_REWARDS_TIMEOUT", LONG,
          "ACMEAIR_REWARDMILES_TIMEOUT", LONG,
          "ACMEAIR_MILES_TIMEOUT", LONG,
          "ACMEAIR_CALLS_READ_TIMEOUT", LONG,
          // A thread that ends takes what it has allocated along: this many stay.
          "EXECUTOR_THREADS", "8");

  private final Path folder = Files.createTempDirectory("acmeair-it");
  private final Map<String, PackagedServer> servers = new LinkedHashMap<>();
  private final Map<String, Integer> readyWithoutDatabase = new HashMap<>();
  private final Database database;
  private final Path wlp;

  /**
   * Starts servers, and then the embedded database.
   *
   * @param names of {@link #SERVICES}, or the monolith
   */
  Deployment(List<String> names) throws IOException, InterruptedException {
    this(names, Database::embedded);
  }

  /**
   * Starts servers, and then a database.
   *
   * @param names of {@link #SERVICES}, or the monolith
   * @param kind makes the database, given a folder
   */
  Deployment(List<String> names, DatabaseKind kind) throws IOException, InterruptedException {
    database = kind.in(folder);
    wlp = Folders.unpack(Path.of(System.getProperty("server.archive")), folder);
    try {
      prepare(names);
      for (PackagedServer server : servers.values()) {
        server.start();
      }
      for (String name : servers.keySet()) {
        server(name).awaitStatus("/health/live", 200);
        readyWithoutDatabase.put(name, server(name).get("/health/ready").statusCode());
      }
      database.start();
      awaitReady();
    } catch (IOException | InterruptedException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private void prepare(List<String> names) throws IOException {
    Map<String, Integer> ports = new HashMap<>();
    for (String name : names) {
      ports.put(name, Processes.freePort());
    }
    Map<String, String> environment = new HashMap<>(LIMITS);
    environment.put("MONGO_HOST", "127.0.0.1");
    environment.put("MONGO_PORT", Integer.toString(database.port()));
    environment.put("ACMEAIR_JWT_PRIVATEKEY_LOCATION", signingKey().toString());
    for (String called : List.of("auth", "customer", "flight")) {
      environment.put(
          "ACMEAIR_STACKAA_" + called.toUpperCase(Locale.ROOT) + "_URL",
          "http://127.0.0.1:" + ports.get(called) + "/" + called);
    }
    for (String name : names) {
      servers.put(
          name,
          new PackagedServer(
              "acmeair-" + name, wlp, folder.resolve(name), ports.get(name), environment));
    }
  }

  /** Waits until every server is ready. */
  void awaitReady() throws IOException, InterruptedException {
    for (PackagedServer server : servers.values()) {
      server.awaitStatus("/health/ready", 200);
    }
  }

  /** A server: auth, customer, flight, booking, main or monolith. */
  PackagedServer server(String name) {
    return servers.get(name);
  }

  /**
   * A further server, not started, which its caller closes.
   *
   * @param name auth, customer, flight, booking, main or monolith
   * @param more variables of the server, beside its port and the limits
   */
  PackagedServer another(String name, Map<String, String> more) throws IOException {
    Map<String, String> environment = new HashMap<>(LIMITS);
    environment.putAll(more);
    return new PackagedServer(
        "acmeair-" + name,
        wlp,
        Files.createTempDirectory(folder, name),
        Processes.freePort(),
        environment);
  }

  Database database() {
    return database;
  }

  /** What {@code /health/ready} answered before there was a database. */
  int readyWithoutDatabase(String name) {
    return readyWithoutDatabase.get(name);
  }

  /** The key with which auth signs, a PEM file that auth makes. */
  Path signingKey() {
    return folder.resolve("keys/auth.pem");
  }

  @Override
  public void close() throws IOException {
    servers.values().forEach(PackagedServer::close);
    database.close();
    Folders.delete(folder);
  }
}
