// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.ping;

import dev.steelyard.bench.Workload;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;
import java.util.Set;

/** The workload {@code ping}: one operation, no data. */
public final class PingWorkload implements Workload {

  private static final String OPERATION = "ping";
  private static final Optional<String> PING = Optional.of(OPERATION);

  @Override
  public String name() {
    return "ping";
  }

  @Override
  public String version() {
    return "1.0.0";
  }

  @Override
  public Set<String> servlets() {
    return Set.of(PingApplication.class.getName());
  }

  @Override
  public Set<String> operations() {
    return Set.of(OPERATION);
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    return "/ping".equals(request.getPathInfo()) ? PING : Optional.empty();
  }
}
