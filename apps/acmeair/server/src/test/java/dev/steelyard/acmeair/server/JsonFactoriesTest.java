// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Nothing on a request's path calls a static method of {@code jakarta.json.Json}: each looks for a
 * provider, at several times the cost of what it is called for. Factories are constants.
 */
final class JsonFactoriesTest {

  @Test
  void onlyConstantsAreMadeByStaticMethodsOfJson() throws IOException {
    List<String> calls = new ArrayList<>();
    List<String> constants = new ArrayList<>();
    for (Path file : sources()) {
      for (String line : Files.readAllLines(file)) {
        if (line.matches(".*\\bJson\\s*(\\.|::)\\s*create.*")) {
          boolean constant =
              line.matches(".*static final \\w+Factory \\w+ = Json\\.create\\w+Factory\\(.*");
          (constant ? constants : calls).add(file + ": " + line.strip());
        }
        assertTrue(!line.contains("import static jakarta.json.Json"), file::toString);
      }
    }

    assertEquals(List.of(), calls);
    assertTrue(constants.size() >= 2, "The search finds nothing any more: " + constants);
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(".."))) {
      return files.filter(file -> file.toString().matches(".*/src/main/java/.*\\.java")).toList();
    }
  }
}
