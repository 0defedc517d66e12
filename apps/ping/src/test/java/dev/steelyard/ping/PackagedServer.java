// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.ping;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The packaged server, unpacked and started as a user would: own user directory, own port. */
final class PackagedServer implements AutoCloseable {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final long START_SECONDS = 120;
  private static final long STOP_SECONDS = 60;

  private final Process process;
  private final Path console;
  private final int port;

  private PackagedServer(Process process, Path console, int port) {
    this.process = process;
    this.console = console;
    this.port = port;
  }

  /** Unpacks the archive into the directory, starts its server and waits until it is ready. */
  static PackagedServer start(Path archive, Path directory)
      throws IOException, InterruptedException {
    try (FileSystem zip = FileSystems.newFileSystem(archive)) {
      copyTree(zip.getPath("/wlp"), directory.resolve("wlp"));
    }
    Path user = directory.resolve("usr");
    copyTree(directory.resolve("wlp/usr"), user);

    int port = freePort();
    Path console = directory.resolve("console.log");
    ProcessBuilder builder =
        new ProcessBuilder("sh", directory.resolve("wlp/bin/server").toString(), "run", "ping");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("WLP_USER_DIR", user.toString());
    builder.environment().put("HTTP_PORT", Integer.toString(port));
    builder.environment().put("JVM_ARGS", "-Xmx128m");
    builder.environment().put("VERBOSEGC", "false");
    builder.redirectErrorStream(true).redirectOutput(console.toFile());
    PackagedServer server = new PackagedServer(builder.start(), console, port);
    try {
      server.awaitReady();
    } catch (IOException | InterruptedException | RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  /** The process that was started, which is to be the JVM itself. */
  Process process() {
    return process;
  }

  /** What the server has printed so far. */
  String console() throws IOException {
    return Files.readString(console);
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + port + path);
    return CLIENT.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Asks the server to end (SIGTERM), waits until it has, and returns its exit code. */
  int stop() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("The server did not end within " + STOP_SECONDS + " s");
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private void awaitReady() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!ready()) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        throw new IllegalStateException("The server did not start:\n" + Files.readString(console));
      }
      Thread.sleep(100);
    }
  }

  private boolean ready() throws InterruptedException {
    try {
      return get("/health/ready").statusCode() == 200;
    } catch (IOException notListeningYet) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        String relative = from.relativize(path).toString().replace('/', File.separatorChar);
        Path target = to.resolve(relative);
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else {
          Files.copy(path, target);
        }
      }
    }
  }
}
