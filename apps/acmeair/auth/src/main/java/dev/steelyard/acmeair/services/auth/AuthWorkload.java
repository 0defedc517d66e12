// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import dev.steelyard.acmeair.web.Operations;
import dev.steelyard.bench.Workload;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/** The operation of the auth service. */
public final class AuthWorkload implements Workload {

  private static final Optional<String> LOGIN = Optional.of(Operations.LOGIN);

  @Override
  public String name() {
    return "acmeair";
  }

  @Override
  public String version() {
    return Operations.VERSION;
  }

  @Override
  public Set<String> servlets() {
    return Set.of(AuthApplication.class.getName());
  }

  @Override
  public Set<String> operations() {
    return Set.of(Operations.LOGIN);
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    return "/login".equals(request.getPathInfo()) ? LOGIN : Optional.empty();
  }

  @Override
  public Map<String, String> settings() {
    Config config = ConfigProvider.getConfig();
    return Map.of(
        "executorThreads", config.getOptionalValue("EXECUTOR_THREADS", String.class).orElse("-1"),
        "customerUrl", config.getValue("customer/mp-rest/url", String.class),
        "validateidTimeout", config.getValue("acmeair.validateid.timeout", String.class) + " ms");
  }
}
