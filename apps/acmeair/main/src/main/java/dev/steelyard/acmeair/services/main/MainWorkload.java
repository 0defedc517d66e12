// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.main;

import dev.steelyard.bench.Workload;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The service of the pages has none of the workload's operations. */
public final class MainWorkload implements Workload {

  @Override
  public String name() {
    return "acmeair";
  }

  @Override
  public String version() {
    return "1.0.0";
  }

  @Override
  public Set<String> operations() {
    return Set.of();
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    return Optional.empty();
  }

  @Override
  public Map<String, String> settings() {
    return Map.of(
        "executorThreads", System.getenv().getOrDefault("EXECUTOR_THREADS", "-1"),
        "today", TodayServlet.today());
  }
}
