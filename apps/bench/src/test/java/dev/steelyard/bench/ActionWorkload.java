// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A workload that names its operations by a request parameter, as servlet applications do. */
public final class ActionWorkload implements Workload {

  static volatile boolean ready = true;
  static volatile boolean started = true;

  @Override
  public String name() {
    return "action";
  }

  @Override
  public String version() {
    return "2.1.0";
  }

  @Override
  public Optional<String> dataSetHash() {
    return Optional.of("cafe");
  }

  @Override
  public Map<String, String> settings() {
    return Map.of("zone", "UTC", "pool", "8");
  }

  @Override
  public boolean ready() {
    return ready;
  }

  @Override
  public boolean started() {
    return started;
  }

  @Override
  public Set<String> operations() {
    return Set.of("quote", "buy");
  }

  @Override
  public Set<String> messages() {
    return Set.of("order");
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    return Optional.ofNullable(request.getParameter("action"));
  }
}
