// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import dev.steelyard.testkit.Processes;
import dev.steelyard.testkit.Waiting;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line, in a process of its own. */
final class MainTest {

  private static final int SIGTERM_EXIT = 128 + 15;
  private static final String USER = "MONGO_INITDB_ROOT_USERNAME";
  private static final String PASSWORD = "MONGO_INITDB_ROOT_PASSWORD";

  @Test
  void servesUntilItIsAskedToEnd() throws Exception {
    int port = Processes.freePort();
    Process process = start("--port", Integer.toString(port));
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertEquals("embedded-mongo ready on 127.0.0.1:" + port, output.readLine());
      try (MongoClient client = Clients.of("", port, "")) {
        Document ping = client.getDatabase("test").runCommand(new Document("ping", 1));
        assertEquals(1, ping.get("ok", Number.class).intValue());
        process.toHandle().destroy(); // Which, other than of the process, leaves the output open.
        assertEquals(SIGTERM_EXIT, Waiting.awaitEnd(process));
      }
      assertEquals(null, output.readLine());
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void servesAUserOfTheEnvironmentAlone(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "secret\n");
    int port = Processes.freePort();
    Process process =
        start(
            Map.of(USER, "steelyard", PASSWORD + "_FILE", file.toString()),
            "--port",
            Integer.toString(port));
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertEquals("embedded-mongo ready on 127.0.0.1:" + port, output.readLine());
      Document list = new Document("listDatabases", 1);
      try (MongoClient known = Clients.of("steelyard:secret@", port, "");
          MongoClient unknown = Clients.of("", port, "")) {
        assertTrue(known.getDatabase("admin").runCommand(list).containsKey("databases"));
        assertThrows(
            MongoCommandException.class, () -> unknown.getDatabase("admin").runCommand(list));
      }
    } finally {
      process.destroyForcibly();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "MONGO_INITDB_ROOT_USERNAME, steelyard, belong together",
    "MONGO_INITDB_ROOT_PASSWORD, secret, belong together",
    "MONGO_INITDB_ROOT_PASSWORD_FILE, /no/such/file, cannot be read",
  })
  void refusesHalfAUserInOneSentence(String name, String value, String reason) throws Exception {
    assertRefusal(start(Map.of(name, value), "--port", "27017"), 2, reason);
  }

  @Test
  void refusesATakenPortInOneSentence() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Process process = start("--port", Integer.toString(taken.getLocalPort()));
      assertRefusal(process, 5, "give another --port");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', --port N",
    "--port, is no port",
    "--port 0, is no port",
    "--port 65536, is no port",
    "--port x, is no port",
    "--port 27017 --host no.such.host.invalid, is no address",
    "--verbose, Unknown argument --verbose",
  })
  void refusesOtherArgumentsInOneSentence(String arguments, String reason) throws Exception {
    assertRefusal(start(arguments.isEmpty() ? new String[0] : arguments.split(" ", -1)), 2, reason);
  }

  private static void assertRefusal(Process process, int exit, String reason) throws Exception {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      List<String> lines = output.lines().toList();
      assertEquals(exit, Waiting.awaitEnd(process), lines.toString());
      assertEquals(1, lines.size(), lines.toString());
      assertTrue(lines.get(0).contains(reason), lines.get(0));
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process start(String... arguments) {
    return start(Map.of(), arguments);
  }

  private static Process start(Map<String, String> environment, String... arguments) {
    List<String> options = List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    ProcessBuilder builder = Processes.program(options, Main.class, arguments);
    builder.environment().putAll(environment);
    try {
      return builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
