// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;

/** Writes many documents in few commands, and hashes them as they go by. */
final class BatchWriter implements AutoCloseable {

  private static final int BATCH = 1_000;

  private final String name;
  private final MongoCollection<Document> collection;
  private final ContentHash hash;
  private final List<Document> batch = new ArrayList<>(BATCH);

  /** Writes into this collection. */
  BatchWriter(MongoDatabase database, String name, ContentHash hash) {
    this.name = name;
    this.collection = database.getCollection(name);
    this.hash = hash;
  }

  void write(Document document) {
    hash.add(name, document);
    batch.add(document);
    if (batch.size() == BATCH) {
      flush();
    }
  }

  private void flush() {
    if (!batch.isEmpty()) {
      collection.insertMany(batch);
      batch.clear();
    }
  }

  /** Writes what is left. */
  @Override
  public void close() {
    flush();
  }
}
