// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.PackagedServer;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The key of the tokens: whose it is, and that several copies of auth are as one. */
@Tag("full")
@ExtendWith(Deployments.Services.class)
final class SigningKeyIT {

  private static final String USER = "uid0@email.com";

  @Test
  void copiesOfAuthShareOneKeyAndAnotherOneIsLearnt(Deployment deployment, @TempDir Path folder)
      throws Exception {
    Customer.load(deployment, 1);
    Path file = folder.resolve("keys/auth.pem");
    try (PackagedServer first = auth(deployment, file);
        PackagedServer second = auth(deployment, file);
        PackagedServer customer =
            deployment.another(
                "customer",
                Map.of(
                    "MONGO_PORT", Integer.toString(deployment.database().port()),
                    "ACMEAIR_STACKAA_AUTH_URL", first.uri("/auth").toString()))) {
      first.start();
      second.start();
      customer.start();
      first.awaitStatus("/health/ready", 200);
      second.awaitStatus("/health/ready", 200);
      customer.awaitStatus("/health/ready", 200);
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
      assertEquals(key(first), key(second));
      assertEquals(200, profile(customer, token(second)), "a token of another copy");
      assertEquals(200, profile(customer, token(first)));

      assertNamesItsKey(token(first).substring("Bearer=".length()));

      // One copy gets another key: the service that is asked, the first, does not know it.
      Files.delete(file);
      restart(second);
      String other = token(second);
      assertEquals(401, profile(customer, other), "a token of another key");
      restart(first);
      assertEquals(200, profile(customer, other), "a token of the key that is new");
    }
  }

  /** The original's token has 588 characters and no name of its key. */
  private static void assertNamesItsKey(String token) {
    String header = new String(Base64.getUrlDecoder().decode(token.split("\\.", 2)[0]), UTF_8);
    String thumbprint = "[\\w-]{43}";
    String named = "\\{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"" + thumbprint + "\"}";
    assertTrue(header.matches(named), header);
    assertEquals(588 + 70, token.length(), token);
  }

  private static void restart(PackagedServer server) throws Exception {
    server.stop();
    server.start();
    server.awaitStatus("/health/ready", 200);
  }

  private static PackagedServer auth(Deployment deployment, Path key) throws Exception {
    return deployment.another(
        "auth",
        Map.of(
            "ACMEAIR_STACKAA_CUSTOMER_URL",
                deployment.server("customer").uri("/customer").toString(),
            "ACMEAIR_VALIDATEID_TIMEOUT", "60000",
            "ACMEAIR_JWT_PRIVATEKEY_LOCATION", key.toString()));
  }

  private static String token(PackagedServer auth) throws Exception {
    return auth.send(
            HttpRequest.newBuilder(auth.uri("/auth/login"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString("login=" + USER + "&password=password")))
        .headers()
        .firstValue("Set-Cookie")
        .orElseThrow()
        .split(";", 2)[0];
  }

  private static String key(PackagedServer auth) throws Exception {
    return auth.get("/auth/getJwk").body();
  }

  private static int profile(PackagedServer customer, String cookie) throws Exception {
    return customer
        .send(
            HttpRequest.newBuilder(customer.uri("/customer/byid/" + USER)).header("Cookie", cookie))
        .statusCode();
  }
}
