// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.data;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Indexes;
import dev.steelyard.acmeair.settings.AcmeAirSettings;
import java.util.ArrayList;
import org.bson.Document;

/** An index beside {@code _id}, which is there if the settings want it and gone if they do not. */
final class SecondaryIndex {

  private static final String PRIMARY = "_id_";

  private SecondaryIndex() {}

  /** Makes the index of a collection be as the settings say; any other is removed. */
  static void apply(
      AcmeAirSettings settings, MongoDatabase database, String collection, String... fields) {
    MongoCollection<Document> documents = database.getCollection(collection);
    documents.listIndexes().map(index -> index.getString("name")).into(new ArrayList<>()).stream()
        .filter(name -> !PRIMARY.equals(name))
        .forEach(documents::dropIndex);
    if (settings.indexes() == AcmeAirSettings.Indexes.SECONDARY) {
      documents.createIndex(Indexes.ascending(fields));
    }
  }
}
