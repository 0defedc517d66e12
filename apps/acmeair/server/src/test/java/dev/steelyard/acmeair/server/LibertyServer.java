// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** One server of the unpacked package. */
final class LibertyServer implements AutoCloseable {

  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final String name;
  private final Path wlp;
  private final Path folder;
  private final Map<String, String> environment;
  private final int port;
  private Process process;

  /**
   * @param name of the server in the package
   * @param wlp the unpacked package, which is only read
   * @param folder for what the server writes
   * @param environment of the server, beside its port
   */
  LibertyServer(String name, Path wlp, Path folder, int port, Map<String, String> environment) {
    this.name = name;
    this.wlp = wlp;
    this.folder = folder;
    this.port = port;
    this.environment = Map.copyOf(environment);
  }

  int port() {
    return port;
  }

  void start() throws IOException {
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

  /** Waits until a path answers with a status. */
  void awaitStatus(String path, int status) throws IOException, InterruptedException {
    try {
      Processes.await(name + " answers " + status + " at " + path, () -> answers(path, status));
    } catch (IllegalStateException e) {
      throw new IllegalStateException(e.getMessage() + ":\n" + Files.readString(console()), e);
    }
  }

  private boolean answers(String path, int status) throws InterruptedException {
    if (!process.isAlive()) {
      throw new IllegalStateException(name + " has ended");
    }
    try {
      return get(path).statusCode() == status;
    } catch (IOException notListeningYet) {
      return false;
    }
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(uri(path)));
  }

  HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  URI uri(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  void stop() throws InterruptedException {
    Processes.stop(process);
  }

  /** What the server has printed. */
  String printed() throws IOException {
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
