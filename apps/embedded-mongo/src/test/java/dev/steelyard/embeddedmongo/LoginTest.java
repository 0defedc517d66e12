// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoSecurityException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server with a user, whom MongoDB's own driver logs in. */
final class LoginTest {

  private static final int UNAUTHORIZED = 13;
  private static final EmbeddedMongo SERVER =
      EmbeddedMongo.start("127.0.0.1", 0, "steel,yard=1", "pass+word/1=");

  @AfterAll
  static void stop() {
    SERVER.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "&authMechanism=SCRAM-SHA-256"})
  void whoKnowsThePasswordIsServed(String mechanism) {
    try (MongoClient client = client("steel%2Cyard%3D1:pass%2Bword%2F1%3D@", mechanism)) {
      MongoDatabase database = client.getDatabase("test");
      database.getCollection("people").insertOne(new Document("_id", 1));
      assertEquals(1, database.getCollection("people").countDocuments());
      database.drop();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "steel%2Cyard%3D1:password@",
        "somebody:pass%2Bword%2F1%3D@",
        "steel%2Cyard%3D1:pass%2Bword%2F1@"
      })
  void whoDoesNotIsRefused(String credentials) {
    try (MongoClient client = client(credentials, "&authMechanism=SCRAM-SHA-256")) {
      MongoDatabase database = client.getDatabase("test");
      assertThrows(
          MongoSecurityException.class, () -> database.getCollection("people").countDocuments());
    }
  }

  @Test
  void whoSaysNothingMayAskForVersionsAlone() {
    try (MongoClient client = client("", "")) {
      MongoDatabase database = client.getDatabase("test");
      assertTrue(database.runCommand(new Document("buildInfo", 1)).containsKey("version"));
      for (String command : new String[] {"count", "dropDatabase", "listDatabases", "getMore"}) {
        MongoCommandException refused =
            assertThrows(
                MongoCommandException.class,
                () -> database.runCommand(new Document(command, "people")));
        assertEquals(UNAUTHORIZED, refused.getErrorCode(), command);
      }
    }
  }

  private static MongoClient client(String credentials, String more) {
    return Clients.of(credentials, SERVER.port(), "&authSource=admin&retryReads=false" + more);
  }
}
