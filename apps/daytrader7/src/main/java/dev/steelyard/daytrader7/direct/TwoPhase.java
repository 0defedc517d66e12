// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.HeuristicMixedException;
import jakarta.transaction.HeuristicRollbackException;
import jakarta.transaction.NotSupportedException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.SystemException;
import jakarta.transaction.UserTransaction;
import java.util.function.Supplier;

/** Global transactions that are begun and ended by hand. */
@ApplicationScoped
public class TwoPhase {

  @Resource private UserTransaction transaction;

  /** Does the work: on all resources, or on none. */
  public <T> T run(Supplier<T> work) {
    try {
      transaction.begin();
      boolean done = false;
      try {
        T result = work.get();
        transaction.commit();
        done = true;
        return result;
      } finally {
        if (!done && transaction.getStatus() != jakarta.transaction.Status.STATUS_NO_TRANSACTION) {
          transaction.rollback();
        }
      }
    } catch (NotSupportedException
        | SystemException
        | RollbackException
        | HeuristicMixedException
        | HeuristicRollbackException e) {
      throw new IllegalStateException("The transaction was not committed", e);
    }
  }
}
