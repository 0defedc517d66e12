// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.requests.PingRequests;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The scenarios that exist; a further workload is a class in {@code requests} and an entry here.
 */
public final class Workloads {
  private static final List<Workload> ALL =
      List.of(new Workload("ping", List.of(PingRequests.PING), Map.of("ping", 100.0)));

  private Workloads() {}

  /** The workload of that name, if there is one. */
  public static Optional<Workload> find(String name) {
    return ALL.stream().filter(workload -> workload.name().equals(name)).findFirst();
  }

  /** Names of all workloads. */
  public static List<String> names() {
    return ALL.stream().map(Workload::name).toList();
  }
}
