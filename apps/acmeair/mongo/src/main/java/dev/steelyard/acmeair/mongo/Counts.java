// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.function.ToLongFunction;
import org.bson.Document;

/** Counts the documents of a collection. A count is -1 while the database does not answer. */
@Singleton
public final class Counts {

  private final MongoDatabase database;

  /** Counts in this database. */
  @Inject
  public Counts(MongoDatabase database) {
    this.database = database;
  }

  /**
   * The number of documents, counted one by one: the command {@code aggregate}.
   *
   * @param collection one of {@link Collections}
   */
  public long counted(String collection) {
    return orUnknown(collection, MongoCollection::countDocuments);
  }

  /**
   * The number of documents as the collection knows it: the command {@code count}.
   *
   * @param collection one of {@link Collections}
   */
  public long known(String collection) {
    return orUnknown(collection, MongoCollection::estimatedDocumentCount);
  }

  private long orUnknown(String collection, ToLongFunction<MongoCollection<Document>> count) {
    try {
      return count.applyAsLong(database.getCollection(collection));
    } catch (MongoException e) {
      return -1;
    }
  }
}
