// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import dev.steelyard.bench.database.Database;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;

/**
 * Takes blocks of keys from the table from which Persistence takes its own, and by its convention:
 * the value that a block leaves there is the last key of the block. So both modes can run in turn.
 *
 * <p>In a transaction of its own: the caller's work is neither committed early nor are keys given
 * out twice when it is undone. The update comes first and keeps others out until the end.
 */
@Stateless
public class KeyBlocks {

  /** Keys in a block. */
  public static final int SIZE = 1000;

  @Inject private Database database;

  /** The first key of a new block. */
  @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
  public int take(String name) {
    return database.run(
        connection -> {
          Database.update(
              connection,
              "UPDATE KEYGENEJB SET KEYVAL = KEYVAL + " + SIZE + " WHERE KEYNAME = ?",
              name);
          int last =
              Database.one(
                  connection,
                  row -> row.getInt(1),
                  "SELECT KEYVAL FROM KEYGENEJB WHERE KEYNAME = ?",
                  name);
          return last - SIZE + 1;
        });
  }
}
