// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.mongodb.MongoException;
import dev.steelyard.acmeair.TestDatabase;
import dev.steelyard.acmeair.data.CustomerLoader;
import dev.steelyard.embeddedmongo.EmbeddedMongo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A database that serves one user alone, as the bundles' does. */
final class LoginTest {

  @Test
  void theServersUseThePasswordOfTheBundle(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "right+word/=\n");
    try (EmbeddedMongo server = EmbeddedMongo.start("127.0.0.1", 0, "steelyard", "right+word/=")) {
      Map<String, String> variables =
          TestDatabase.variables(
              server.port(),
              Map.of(
                  "MONGO_USERNAME", "steelyard",
                  "MONGO_PASSWORD_FILE", file.toString(),
                  "MONGO_AUTHSOURCE", "admin"));
      try (ServerContext context = ServerContext.of(variables, "acmeair")) {
        new CustomerLoader(context.database()).load(3, 0, 0);
        assertEquals(3, new Counts(context.database()).counted("customer"));
      }
      Files.writeString(file, "wrong");
      try (ServerContext context = ServerContext.of(variables, "acmeair")) {
        CustomerLoader loader = new CustomerLoader(context.database());
        assertThrows(MongoException.class, () -> loader.load(3, 0, 0));
      }
    }
  }
}
