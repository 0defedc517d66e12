// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.backend.memory.MemoryDatabase;
import java.util.List;

/** The library's storage in memory, with secondary indexes that are used: its own are ignored. */
class IndexedBackend extends MemoryBackend {

  @Override
  public MemoryDatabase openOrCreateDatabase(String name) {
    return new IndexedDatabase(name, getCursorRegistry());
  }

  private static final class IndexedDatabase extends MemoryDatabase {

    IndexedDatabase(String name, CursorRegistry cursors) {
      super(name, cursors);
    }

    @Override
    protected Index<Integer> openOrCreateSecondaryIndex(
        String collection, String name, List<IndexKey> keys, boolean sparse) {
      return new EqualityIndex(name, keys, sparse);
    }
  }
}
