// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import dev.steelyard.olio.population.Names;
import dev.steelyard.testkit.ContractCase;
import dev.steelyard.testkit.ContractRunner;
import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every address answers as the tables in {@code contract/} say. */
@ExtendWith(OlioServer.Shared.class)
final class ContractIT {

  private static final String DERBY = "Apache Derby";

  /** A table on any server with the same data, on a database. */
  static Stream<DynamicTest> tests(PackagedServer server, String database, String table)
      throws IOException {
    ContractRunner runner = new ContractRunner((name, path) -> server);
    runner.set("root", "/olio");
    runner.set("database", database);
    for (int person : new int[] {1, 2, 3, 4, 5}) {
      runner.set("person" + person, Names.of(person));
    }
    runner.set("tag", Names.of(1));
    return runner.tests(ContractCase.table(ContractIT.class, "/contract/" + table));
  }

  @TestFactory
  Stream<DynamicTest> pages(OlioServer server) throws IOException {
    return tests(server.packaged(), DERBY, "pages.yaml");
  }

  @TestFactory
  Stream<DynamicTest> scripts(OlioServer server) throws IOException {
    return tests(server.packaged(), DERBY, "scripts.yaml");
  }

  @TestFactory
  Stream<DynamicTest> badInput(OlioServer server) throws IOException {
    return tests(server.packaged(), DERBY, "bad-input.yaml");
  }
}
