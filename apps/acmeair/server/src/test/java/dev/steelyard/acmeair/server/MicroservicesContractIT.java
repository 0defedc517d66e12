// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import dev.steelyard.testkit.ContractCase;
import dev.steelyard.testkit.ContractRunner;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** The services answer as {@code contract/microservices.yaml} says. */
@Tag("full")
@ExtendWith(Deployments.Services.class)
final class MicroservicesContractIT {

  private static final String CUSTOMER = "uid0@email.com";
  private static final int TOO_LONG = 70_000;

  @TestFactory
  Stream<DynamicTest> contract(Deployment deployment) throws Exception {
    ContractRunner runner =
        new ContractRunner(
            (name, path) -> deployment.server(name == null ? serviceOf(path) : name),
            user -> new Customer(deployment, user).login());
    Instant now = Instant.now();
    Forgery own = Forgery.withKey(deployment.signingKey());
    runner.set("valid", own.token(CUSTOMER, Forgery.ISSUER, Forgery.ROLE, now));
    runner.set(
        "expired",
        own.token(CUSTOMER, Forgery.ISSUER, Forgery.ROLE, now.minus(Duration.ofHours(2))));
    runner.set("otherIssuer", own.token(CUSTOMER, "http://elsewhere", Forgery.ROLE, now));
    runner.set("otherRole", own.token(CUSTOMER, Forgery.ISSUER, "guest", now));
    runner.set(
        "otherKey", Forgery.withOtherKey().token(CUSTOMER, Forgery.ISSUER, Forgery.ROLE, now));
    runner.set("unsigned", Forgery.unsigned(CUSTOMER));
    runner.set("long", "x".repeat(TOO_LONG));
    return runner.tests(ContractCase.table(getClass(), "/contract/microservices.yaml"));
  }

  /** As a proxy tells it: by the first part of the path. */
  private static String serviceOf(String path) {
    String prefix = path.split("[/?]", 3)[1];
    return prefix.equals("acmeair") ? "main" : prefix;
  }
}
