// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

/** An operation that needs data before any was loaded; the message says what to load. */
public final class NotLoadedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * @param message what is missing and what to do
   */
  public NotLoadedException(String message) {
    super(message, null, false, false); // An everyday answer, so without a stack trace.
  }
}
