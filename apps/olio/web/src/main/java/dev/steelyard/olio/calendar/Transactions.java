// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import jakarta.annotation.Priority;
import jakarta.annotation.Resource;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import jakarta.transaction.HeuristicMixedException;
import jakarta.transaction.HeuristicRollbackException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionalException;
import jakarta.transaction.UserTransaction;

/**
 * Begins and ends transactions. Liberty's own interceptor writes a report of a first failure (FFDC)
 * for each exception that leaves a method: for every user name that is taken and every event that
 * is not there, which are answers and no failures.
 */
@InTransaction
@Interceptor
@Priority(Interceptor.Priority.PLATFORM_BEFORE)
class Transactions {

  @Resource private UserTransaction transaction;

  @AroundInvoke
  Object run(InvocationContext call) throws Exception {
    if (transaction.getStatus() != Status.STATUS_NO_TRANSACTION) {
      return call.proceed(); // Who has begun it ends it.
    }
    transaction.begin();
    boolean done = false;
    Object result;
    try {
      result = call.proceed();
      done = true;
    } finally {
      if (!done) {
        transaction.rollback();
      }
    }
    try {
      transaction.commit();
    } catch (RollbackException | HeuristicMixedException | HeuristicRollbackException e) {
      throw new TransactionalException("The transaction was not committed", e);
    }
    return result;
  }
}
