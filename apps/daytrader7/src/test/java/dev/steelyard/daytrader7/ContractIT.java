// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.testkit.ContractCase;
import dev.steelyard.testkit.ContractRunner;
import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every URL answers as the tables in {@code contract/} say: the pages in all modes. */
@ExtendWith(TradeServer.Shared.class)
final class ContractIT {

  @TestFactory
  Stream<DynamicNode> pages(TradeServer server) {
    return pages(server.packaged(), RunMode.EJB, OrderMode.SYNC);
  }

  @Tag("full")
  @TestFactory
  Stream<DynamicNode> pagesInTheOtherModes(TradeServer server) {
    List<DynamicNode> modes = new ArrayList<>();
    for (RunMode run : RunMode.values()) {
      for (OrderMode order : OrderMode.values()) {
        if (run != RunMode.EJB || order != OrderMode.SYNC) {
          modes.add(
              DynamicContainer.dynamicContainer(
                  run + " " + order, pages(server.packaged(), run, order)));
        }
      }
    }
    return modes.stream();
  }

  /** The pages of any server with the data of {@link TradeServer}, in these modes. */
  static Stream<DynamicNode> pages(PackagedServer server, RunMode run, OrderMode order) {
    int user = 1 + run.value() * OrderMode.values().length + order.value();
    ContractRunner runner = runner(server, user);
    // By JDBC an order is read again for the page, and may have been completed by then.
    String later = run == RunMode.EJB ? "open" : "been submitted";
    runner.set("status", order == OrderMode.SYNC ? "closed" : later);
    Stream<DynamicNode> begin =
        Stream.of(
            DynamicTest.dynamicTest(
                "modes are set", () -> TradeServer.configure(server, run, order, true)));
    Stream<DynamicNode> cases =
        Stream.of("pages.yaml", "faces.yaml", "bad-input.yaml")
            .flatMap(table -> tests(runner, table));
    return Stream.concat(begin, cases);
  }

  @TestFactory
  Stream<DynamicTest> primitives(TradeServer server) {
    return tests(runner(server.packaged(), 0), "primitives.yaml");
  }

  @TestFactory
  Stream<DynamicTest> administration(TradeServer server) {
    return tests(runner(server.packaged(), 0), "administration.yaml");
  }

  private static ContractRunner runner(PackagedServer server, int user) {
    ContractRunner runner = new ContractRunner((name, path) -> server);
    runner.set("app", "/daytrader/app");
    runner.set("root", "/daytrader");
    runner.set("user", "uid:10" + user);
    runner.set("n", Integer.toString(user));
    runner.set(
        "oldState",
        "<input type=\"hidden\" name=\"javax\\.faces\\.ViewState\""
            + " id=\"j_id__v_0:javax\\.faces\\.ViewState:1\" value=\"([^\"]+)\".*/>");
    runner.set("newState", "name=\"jakarta\\.faces\\.ViewState\" [^>]*value=\"([^\"]+)\"");
    return runner;
  }

  private static Stream<DynamicTest> tests(ContractRunner runner, String table) {
    try {
      return runner.tests(ContractCase.table(ContractIT.class, "/contract/" + table));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
