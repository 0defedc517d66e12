// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

/** A user who is not known, or a password that is not the user's. */
public class LoginException extends TradeException {

  private static final long serialVersionUID = 1L;

  /** Says why. */
  public LoginException(String message) {
    super(message);
  }
}
