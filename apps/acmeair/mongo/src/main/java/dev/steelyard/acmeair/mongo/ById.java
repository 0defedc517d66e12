// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.client.MongoDatabase;
import java.util.Optional;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;

/**
 * Finds the document of an id in a collection: the command that {@code find(...).first()} sends, as
 * a command. The driver then reads the reply like any other document, whereas for {@code find} it
 * makes tables of codecs for each reply anew: as many bytes as the rest of the call, which the
 * original with its older driver does not allocate (docs/acmeair.md has the figures).
 */
final class ById {

  private static final BsonInt32 ONE = new BsonInt32(1);

  private final MongoDatabase database;
  private final BsonString collection;

  ById(MongoDatabase database, String collection) {
    this.database = database;
    this.collection = new BsonString(collection);
  }

  Optional<Document> find(String id) {
    Document reply =
        database.runCommand(
            new BsonDocument("find", collection)
                .append("filter", new BsonDocument("_id", new BsonString(id)))
                .append("limit", ONE)
                .append("singleBatch", BsonBoolean.TRUE));
    return reply.get("cursor", Document.class).getList("firstBatch", Document.class).stream()
        .findFirst();
  }
}
