// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** The monolith answers as {@code contract/monolith.yaml} says. */
@ExtendWith(Deployments.class)
final class MonolithContractIT {

  private static final int TOO_LONG = 70_000;

  @TestFactory
  Stream<DynamicTest> contract(Deployment deployment) throws Exception {
    ContractRunner runner =
        new ContractRunner(deployment, path -> deployment.server("monolith"), "/rest/api/login");
    runner.set("long", "x".repeat(TOO_LONG));
    return runner.tests(ContractCase.table("monolith.yaml"));
  }
}
