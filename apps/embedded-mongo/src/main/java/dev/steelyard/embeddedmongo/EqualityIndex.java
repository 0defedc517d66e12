// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.bson.BsonRegularExpression;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A secondary index that finds documents by equal values, as a hash table. Any query that gives
 * plain values for all its fields uses it; the server checks what else the query wants.
 */
final class EqualityIndex extends Index<Integer> {

  private static final String ID = "_id";

  // Beside each position the document's id: a document that goes must say where it was.
  private final Map<KeyValue, Map<Object, Integer>> positions = new HashMap<>();

  /**
   * @param name of the index
   * @param keys its fields
   * @param sparse kept for the description; documents without the fields are found as well
   */
  EqualityIndex(String name, List<IndexKey> keys, boolean sparse) {
    super(name, keys, sparse);
  }

  @Override
  public synchronized Integer getPosition(Document document) {
    Integer position = null;
    for (KeyValue key : getKeyValues(document)) {
      position = positions.getOrDefault(key, Map.of()).get(document.get(ID));
    }
    return position;
  }

  @Override
  public void checkAdd(Document document, MongoCollection<Integer> collection) {
    // Any value may come as often as it likes.
  }

  @Override
  public synchronized void add(
      Document document, Integer position, MongoCollection<Integer> collection) {
    for (KeyValue key : getKeyValues(document)) {
      positions
          .computeIfAbsent(key, absent -> new LinkedHashMap<>())
          .put(document.get(ID), position);
    }
  }

  @Override
  public synchronized Integer remove(Document document) {
    Integer position = getPosition(document);
    for (KeyValue key : getKeyValues(document)) {
      positions.computeIfPresent(
          key,
          (present, documents) -> {
            documents.remove(document.get(ID));
            return documents.isEmpty() ? null : documents;
          });
    }
    return position;
  }

  @Override
  public boolean canHandle(Document query) {
    return keys().stream().map(query::get).allMatch(EqualityIndex::plain);
  }

  private static boolean plain(Object value) {
    return value != null
        && !(value instanceof Document)
        && !(value instanceof Collection)
        && !(value instanceof BsonRegularExpression);
  }

  @Override
  public synchronized Iterable<Integer> getPositions(Document query) {
    List<Integer> found = new ArrayList<>();
    for (KeyValue key : getKeyValues(query)) {
      found.addAll(positions.getOrDefault(key, Map.of()).values());
    }
    return found;
  }

  @Override
  public synchronized long getCount() {
    return positions.values().stream().mapToLong(Map::size).sum();
  }

  @Override
  public long getDataSize() {
    return getCount();
  }

  @Override
  public void checkUpdate(Document before, Document after, MongoCollection<Integer> collection) {
    // As for adding.
  }

  @Override
  public synchronized void updateInPlace(
      Document before, Document after, Integer position, MongoCollection<Integer> collection) {
    if (!nullAwareEqualsKeys(before, after)) {
      remove(before);
      add(after, position, collection);
    }
  }

  @Override
  public synchronized void drop() {
    positions.clear();
  }
}
