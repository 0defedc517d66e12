// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;

/** PostgreSQL of this host's packages, as the harness starts it, with its data in a folder. */
public final class PostgreSql implements EndlessLoad.Target {

  private static final String SCRIPT = "apps/databases/postgresql.sh";

  private final Path folder;
  private final int port;
  private Process script;

  private PostgreSql(Path folder, int port) {
    this.folder = folder;
    this.port = port;
  }

  /** What this host lacks to run one, in a sentence; empty where nothing is missing. */
  public static String missing() throws IOException, InterruptedException {
    Process check =
        new ProcessBuilder("sh", script().toString(), "--check").redirectErrorStream(true).start();
    String said = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return Waiting.awaitEnd(check) == 0 ? "" : said.strip();
  }

  /**
   * Starts one, and waits until it takes connections.
   *
   * @throws IllegalStateException if this host has none; the message says what is missing
   */
  public static PostgreSql in(Path folder) throws IOException, InterruptedException {
    PostgreSql database = new PostgreSql(folder, Processes.freePort());
    database.start();
    return database;
  }

  /** Starts it, again if it ran before, and waits until it takes connections. */
  @Override
  public void start() throws IOException, InterruptedException {
    Files.createDirectories(folder);
    Path log = folder.resolve("postgresql.txt");
    script =
        new ProcessBuilder(
                "sh",
                script().toString(),
                "127.0.0.1",
                Integer.toString(port),
                folder.resolve("data").toString(),
                "64m")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    Waiting.await(
        "PostgreSQL takes connections",
        () -> {
          if (!script.isAlive()) {
            throw new IllegalStateException("PostgreSQL has ended: " + Files.readString(log));
          }
          try {
            connection().close();
            return true;
          } catch (SQLException notYet) {
            return false;
          }
        });
  }

  /** The script lies in the checkout, above the module whose tests run. */
  private static Path script() {
    Path at = Path.of("").toAbsolutePath();
    while (at != null && !Files.exists(at.resolve(SCRIPT))) {
      at = at.getParent();
    }
    if (at == null) {
      throw new IllegalStateException(SCRIPT + " is in no folder above the tests.");
    }
    return at.resolve(SCRIPT);
  }

  /** A connection as the application has them. */
  public Connection connection() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:" + port + "/steelyard", "steelyard", "steelyard");
  }

  /**
   * What a server is told of it, by the names of its variables without their beginning; the
   * password is in a file, as in containers.
   */
  public Map<String, String> environment(String prefix) throws IOException {
    Path secrets = Files.createDirectories(folder.resolve("secrets"));
    Files.writeString(secrets.resolve("database_password"), "steelyard\n");
    return Map.of(
        prefix + "_DATABASE",
        "postgresql",
        prefix + "_DB_PORT",
        Integer.toString(port),
        prefix + "_DB_NAME",
        "steelyard",
        prefix + "_DB_USER",
        "steelyard",
        "VARIABLE_SOURCE_DIRS",
        secrets.toString());
  }

  /** Kills its first process (SIGKILL); the others see that and end, with nothing written. */
  @Override
  public void kill() throws InterruptedException {
    Processes.kill(script, script.children().findFirst().orElseThrow());
  }

  /** Ends it in order. */
  public void stop() throws InterruptedException {
    Processes.stop(script);
  }
}
