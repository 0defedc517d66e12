// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import dev.steelyard.testkit.ContractCase;
import dev.steelyard.testkit.ContractRunner;
import dev.steelyard.testkit.PackagedServer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** The monolith answers as {@code contract/monolith.yaml} says. */
@ExtendWith(Deployments.Monolith.class)
final class MonolithContractIT {

  private static final int TOO_LONG = 70_000;

  @TestFactory
  Stream<DynamicTest> contract(Deployment deployment) throws Exception {
    return tests(deployment);
  }

  /** The table, against a monolith whose database is empty. */
  static Stream<DynamicTest> tests(Deployment deployment) throws IOException {
    ContractRunner runner =
        new ContractRunner(
            (name, path) -> deployment.server("monolith"), user -> login(deployment, user));
    runner.set("long", "x".repeat(TOO_LONG));
    return runner.tests(ContractCase.table(MonolithContractIT.class, "/contract/monolith.yaml"));
  }

  /** The answer to a login; the user as in a form, in percent encoding. */
  static HttpResponse<String> login(Deployment deployment, String user)
      throws IOException, InterruptedException {
    PackagedServer monolith = deployment.server("monolith");
    return monolith.send(
        HttpRequest.newBuilder(monolith.uri("/rest/api/login"))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString("login=" + user + "&password=password")));
  }
}
