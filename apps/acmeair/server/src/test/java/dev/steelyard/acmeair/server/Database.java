// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import dev.steelyard.testkit.EndlessLoad;
import dev.steelyard.testkit.Processes;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A database of MongoDB's protocol as a process of its own, which can go and come back. */
final class Database implements AutoCloseable {

  private static final String LOCALHOST = "127.0.0.1";

  /** The exit code of a script that lacks something here. */
  private static final int MISSING = 6;

  private final Path console;
  private final int port;
  private final List<String> command;
  private Process process;

  private Database(Path console, int port, List<String> command) {
    this.console = console;
    this.port = port;
    this.command = command;
  }

  /**
   * The embedded one, which comes back empty.
   *
   * @param folder where its output goes
   */
  static Database embedded(Path folder) throws IOException {
    int port = Processes.freePort();
    return new Database(
        folder.resolve("database.log"),
        port,
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx96m",
            "-cp",
            System.getProperty("embedded.mongo") + "/*",
            "dev.steelyard.embeddedmongo.Main",
            "--port",
            Integer.toString(port)));
  }

  /**
   * FerretDB on PostgreSQL, which keeps what it was given.
   *
   * @param folder where its output and its data go
   */
  static Database ferretDb(Path folder) throws IOException {
    int port = Processes.freePort();
    return new Database(
        folder.resolve("database.log"),
        port,
        List.of(
            "sh",
            System.getProperty("ferretdb"),
            LOCALHOST,
            Integer.toString(port),
            folder.resolve("database").toString()));
  }

  /** Compiles FerretDB once for all, and tells what this host lacks for it; empty if nothing. */
  static String ferretDbLacks() throws IOException, InterruptedException {
    Process build =
        new ProcessBuilder("sh", System.getProperty("ferretdb"), "--build")
            .redirectErrorStream(true)
            .start();
    String said = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = Waiting.awaitEnd(build);
    if (code != 0 && code != MISSING) {
      throw new IllegalStateException(said);
    }
    return code == 0 ? "" : said.strip();
  }

  /** The port, the same after each start. */
  int port() {
    return port;
  }

  void start() throws IOException, InterruptedException {
    process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(console.toFile())
            .start();
    Waiting.await(
        "the database is ready", this::answers, () -> process.isAlive() ? null : "it has ended");
  }

  private boolean answers() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  /**
   * One of its programs, to be killed; the others end with it, and all start again together.
   *
   * @param name how the file of the program begins
   */
  EndlessLoad.Target program(String name) {
    return new EndlessLoad.Target() {
      @Override
      public void kill() throws InterruptedException {
        // PostgreSQL's other processes are children of its first.
        ProcessHandle first =
            process
                .descendants()
                .filter(each -> runs(each, name) && !runs(each.parent().orElseThrow(), name))
                .findFirst()
                .orElseThrow();
        Processes.kill(process, first);
      }

      @Override
      public void start() throws IOException, InterruptedException {
        Database.this.start();
      }
    };
  }

  private static boolean runs(ProcessHandle process, String name) {
    return process
        .info()
        .command()
        .map(file -> Path.of(file).getFileName().toString().startsWith(name))
        .orElse(false);
  }

  void stop() throws InterruptedException {
    Processes.stop(process);
  }

  @Override
  public void close() {
    if (process != null) {
      process.destroy();
      process.onExit().join();
    }
  }
}
