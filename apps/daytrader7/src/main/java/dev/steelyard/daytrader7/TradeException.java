// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import jakarta.ejb.ApplicationException;

/** An operation that cannot be done as asked, said in one sentence. Its transaction is undone. */
@ApplicationException(rollback = true)
public class TradeException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Says what cannot be done. */
  public TradeException(String message) {
    super(message);
  }

  /** Says what failed below. */
  public TradeException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Whether something failed below: no answer to the user, whose wish nothing is wrong with. */
  public boolean failedBelow() {
    return getCause() != null;
  }
}
