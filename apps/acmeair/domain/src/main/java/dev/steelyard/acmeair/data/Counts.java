// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.steelyard.acmeair.Dialect;
import org.bson.Document;

/** Counts the documents of a collection. */
public final class Counts {

  private final MongoDatabase database;
  private final Dialect dialect;

  /** Counts in this database, with the command of this dialect. */
  public Counts(MongoDatabase database, Dialect dialect) {
    this.database = database;
    this.dialect = dialect;
  }

  /**
   * The number of documents.
   *
   * @param collection one of {@link Collections}
   */
  public long of(String collection) {
    MongoCollection<Document> documents = database.getCollection(collection);
    return dialect.countsDocuments()
        ? documents.countDocuments()
        : documents.estimatedDocumentCount();
  }

  /** The number of documents, or -1 while the database does not answer. */
  public long orUnknown(String collection) {
    try {
      return of(collection);
    } catch (MongoException e) {
      return -1;
    }
  }
}
