// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import dev.steelyard.testkit.Processes;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The embedded database as a process of its own, which can go and come back, empty. */
final class Database implements AutoCloseable {

  private final Path console;
  private final int port;
  private Process process;

  /**
   * @param console where its output goes
   */
  Database(Path console) throws IOException {
    this.console = console;
    this.port = Processes.freePort();
  }

  /** The port, the same after each start. */
  int port() {
    return port;
  }

  void start() throws IOException, InterruptedException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-cp",
                System.getProperty("embedded.mongo") + "/*",
                "dev.steelyard.embeddedmongo.Main",
                "--port",
                Integer.toString(port))
            .redirectErrorStream(true)
            .redirectOutput(console.toFile())
            .start();
    Waiting.await(
        "the database is ready", () -> Files.readString(console).contains("embedded-mongo ready"));
  }

  void stop() throws InterruptedException {
    Processes.stop(process);
  }

  @Override
  public void close() {
    if (process != null) {
      process.destroyForcibly();
    }
  }
}
