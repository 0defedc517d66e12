// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.derbyserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.Processes;
import dev.steelyard.testkit.Waiting;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program in a process of its own. */
class MainTest {
  @TempDir Path folder;

  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
  }

  private Process start(String... arguments) throws IOException {
    List<String> options = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    Process process =
        Processes.program(options, Main.class, arguments).directory(folder.toFile()).start();
    started.add(process);
    return process;
  }

  private static String saidUntilReady(Process process) throws IOException {
    BufferedReader words = process.inputReader();
    StringBuilder said = new StringBuilder();
    String line = words.readLine();
    while (line != null) {
      said.append(line).append('\n');
      if (line.startsWith("derby-server ready")) {
        break;
      }
      line = words.readLine();
    }
    return said.toString();
  }

  private static int end(Process process) throws InterruptedException {
    process.toHandle().destroy();
    return Waiting.awaitEnd(process);
  }

  @Test
  void databasesAreClosedOnSigtermAndThereAgainAfterACopy() throws Exception {
    int port = Processes.freePort();
    String url = "jdbc:derby://127.0.0.1:%d/shop".formatted(port);
    Process first = start("--port", "" + port, "--folder", folder.resolve("data").toString());
    assertTrue(saidUntilReady(first).contains("derby-server ready on 127.0.0.1:" + port));
    try (Connection shop = DriverManager.getConnection(url + ";create=true");
        Statement statement = shop.createStatement()) {
      statement.execute("CREATE TABLE ITEM (NAME VARCHAR(9))");
      statement.execute("INSERT INTO ITEM VALUES ('one')");
    }
    assertEquals(143, end(first));
    // The lock is there as long as a database is open, or was not closed.
    assertFalse(Files.exists(folder.resolve("data/shop/db.lck")));

    Files.move(folder.resolve("data"), folder.resolve("copy"));
    Process second = start("--port", "" + port, "--folder", folder.resolve("copy").toString());
    String said = saidUntilReady(second);
    assertTrue(said.contains("derby-server ready"), said);
    Process late = start("--port", "" + port, "--folder", folder.resolve("other").toString());
    assertTrue(saidUntilReady(late).contains("Cannot listen on 127.0.0.1:" + port));
    assertEquals(5, Waiting.awaitEnd(late));
    try (Connection shop = DriverManager.getConnection(url);
        Statement statement = shop.createStatement();
        ResultSet rows = statement.executeQuery("SELECT NAME FROM ITEM")) {
      assertTrue(rows.next());
      assertEquals("one", rows.getString(1));
    }
  }

  @Test
  void badArgumentsAreRefused() throws Exception {
    for (String[] bad :
        new String[][] {
          {"--port", "x", "--folder", "f"},
          {"--port", "65536", "--folder", "f"},
          {"--port", "1"},
          {"--folder", "f"}
        }) {
      Process refused = start(bad);
      assertTrue(saidUntilReady(refused).startsWith("Give --port N"));
      assertEquals(2, Waiting.awaitEnd(refused));
    }
  }
}
