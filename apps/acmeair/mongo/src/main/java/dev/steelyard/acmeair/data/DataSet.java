// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Sorts;
import dev.steelyard.acmeair.mongo.Collections;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bson.Document;

/**
 * What is loaded: one document for each part ({@code customers}, {@code flights}, {@code
 * bookings}), kept beside the data, so that all servers of a database tell the same. A part has its
 * document only while it is loaded in full.
 */
public final class DataSet {

  private static final String HASH = "hash";

  private final MongoCollection<Document> parts;

  /** The data set in this database. */
  public DataSet(MongoDatabase database) {
    this.parts = database.getCollection(Collections.DATA_SET);
  }

  /** The hash of all that is loaded, or nothing if nothing is. */
  public Optional<String> hash() {
    List<String> hashes =
        parts
            .find()
            .sort(Sorts.ascending("_id"))
            .map(part -> part.getString(HASH))
            .into(new ArrayList<>());
    if (hashes.size() < 2) {
      return hashes.stream().findFirst();
    }
    ContentHash all = new ContentHash();
    hashes.forEach(all::add);
    return Optional.of(all.text());
  }

  /** Notes that a part is not in place (any more). */
  void forget(String part) {
    parts.deleteOne(Filters.eq(part));
  }

  /** Notes that a part is in place, with its hash and with what it was made from. */
  void remember(String part, String hash, Map<String, String> made) {
    Document document = new Document("_id", part).append(HASH, hash);
    document.putAll(made);
    parts.replaceOne(Filters.eq(part), document, new ReplaceOptions().upsert(true));
  }
}
