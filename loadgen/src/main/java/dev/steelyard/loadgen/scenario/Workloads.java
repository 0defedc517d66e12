// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import java.util.List;
import java.util.Optional;

/** The workloads that exist; a further one is a {@link Workload} and an entry here. */
public final class Workloads {
  private static final List<Workload> ALL =
      List.of(new PingWorkload(), AcmeairWorkload.monolith(), AcmeairWorkload.microservices());

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
