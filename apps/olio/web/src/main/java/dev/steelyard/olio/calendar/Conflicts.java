// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.olio.Stats;
import jakarta.persistence.PersistenceException;
import java.sql.SQLException;
import java.util.function.Supplier;

/** Transactions that another one was in the way of. */
public final class Conflicts {

  /** Of many who post at once with the same new tags, one gets through each time. */
  private static final int MOST_ATTEMPTS = 10;

  private Conflicts() {}

  /**
   * Does something in a transaction of its own, again if another transaction was in its way: that
   * has made one of its new tags a moment earlier, which is a known one now, or has not made one
   * after all that was seen; or somebody attends an event, or comments on it, just as it is
   * deleted; or the two had to wait for each other.
   *
   * @param stats count each time that it is done again
   * @throws PersistenceException if anything else failed, or this ten times
   */
  public static <T> T retry(Stats stats, Supplier<T> transaction) {
    for (int left = MOST_ATTEMPTS - 1; true; left--) {
      try {
        return transaction.get();
      } catch (PersistenceException e) {
        if (left == 0 || !isConflict(e)) {
          throw e;
        }
        stats.add(Stats.Count.TRANSACTIONS_REPEATED);
      }
    }
  }

  /** Whether the database says so: a violated constraint (23), or a transaction undone (40). */
  private static boolean isConflict(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException refused
          && String.valueOf(refused.getSQLState()).matches("(23|40).*")) {
        return true;
      }
    }
    return false;
  }
}
