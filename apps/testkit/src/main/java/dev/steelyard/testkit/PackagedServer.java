// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/** One server of an unpacked package, started as a user would: own folder, own port. */
public final class PackagedServer implements AutoCloseable {

  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** The exit code of a server that says that it is to be started again. */
  private static final int INCOMPLETE = 3;

  private static final int STARTED_AGAIN = 2;

  private final String name;
  private final Path wlp;
  private final Path folder;
  private final Map<String, String> environment;
  private final int port;
  private Process process;
  private int startedAgain;

  /**
   * A server, not yet started.
   *
   * @param name of the server in the package
   * @param wlp the unpacked package, which is only read: {@link Folders#unpack}
   * @param folder for what the server writes
   * @param port that it listens on: {@code HTTP_PORT}
   * @param environment of the server, beside its port; {@code JVM_ARGS} replaces a small heap and a
   *     JVM that starts quickly
   */
  public PackagedServer(
      String name, Path wlp, Path folder, int port, Map<String, String> environment) {
    this.name = name;
    this.wlp = wlp;
    this.folder = folder;
    this.port = port;
    this.environment = Map.copyOf(environment);
  }

  /** The only server of a package, unpacked into a folder, on any free port; not yet started. */
  public static PackagedServer of(
      String name, Path archive, Path folder, Map<String, String> environment) throws IOException {
    Path wlp = Folders.unpack(archive, folder);
    return new PackagedServer(name, wlp, folder, Processes.freePort(), environment);
  }

  public int port() {
    return port;
  }

  /** The process that was started, which is the JVM itself. */
  public Process process() {
    return process;
  }

  /** Starts the server, and does not wait for it. */
  public void start() throws IOException {
    Files.createDirectories(folder);
    ProcessBuilder builder =
        new ProcessBuilder("sh", wlp.resolve("bin/server").toString(), "run", name);
    Map<String, String> variables = builder.environment();
    variables.put("JAVA_HOME", System.getProperty("java.home"));
    variables.put("WLP_OUTPUT_DIR", folder.resolve("output").toString());
    variables.put("LOG_DIR", folder.resolve("logs").toString());
    variables.put("VERBOSEGC", "false");
    variables.put("JVM_ARGS", "-Xmx96m -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    variables.put("HTTP_PORT", Integer.toString(port));
    variables.putAll(environment);
    process =
        builder
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(console().toFile()))
            .start();
  }

  /** Waits until a path, such as {@code /health/ready}, answers with a status. */
  public void awaitStatus(String path, int status) throws IOException, InterruptedException {
    try {
      Waiting.await(name + " answers " + status + " at " + path, () -> answers(path, status));
    } catch (IllegalStateException e) {
      throw new IllegalStateException(e.getMessage() + ":\n" + printed(), e);
    }
  }

  private boolean answers(String path, int status) throws IOException, InterruptedException {
    if (!process.isAlive()) {
      if (process.exitValue() != INCOMPLETE || ++startedAgain > STARTED_AGAIN) {
        throw new IllegalStateException(name + " has ended");
      }
      start();
    }
    try {
      return get(path).statusCode() == status;
    } catch (IOException notListeningYet) {
      return false;
    }
  }

  public HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(uri(path)));
  }

  public HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** Sends a request; redirects are answers like any other. */
  public <T> HttpResponse<T> send(HttpRequest.Builder request, HttpResponse.BodyHandler<T> handler)
      throws IOException, InterruptedException {
    return CLIENT.send(request.build(), handler);
  }

  /** The address of a path on this server. */
  public URI uri(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  /** Asks the server to end (SIGTERM), waits until it has, and returns its exit code. */
  public int stop() throws InterruptedException {
    return Processes.stop(Objects.requireNonNull(process, "The server was not started"));
  }

  /** What the server has printed. */
  public String printed() throws IOException {
    return Files.readString(console());
  }

  private Path console() {
    return folder.resolve("console.log");
  }

  @Override
  public void close() {
    if (process != null) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
