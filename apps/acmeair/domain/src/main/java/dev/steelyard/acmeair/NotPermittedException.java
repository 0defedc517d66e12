// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

/** A customer asks for what is another's, or does not know the password. */
public final class NotPermittedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** An everyday answer, so without a stack trace. */
  public NotPermittedException() {
    super("Not permitted", null, false, false);
  }
}
