// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair;

/** A request that cannot be understood; the message is one sentence for whoever sent it. */
public final class InvalidInputException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * @param message what is wrong and what is wanted
   */
  public InvalidInputException(String message) {
    super(message, null, false, false); // An everyday answer, so without a stack trace.
  }

  /**
   * A form field that must be there.
   *
   * @throws InvalidInputException if it is not, or is empty
   */
  public static String required(String field, String value) {
    if (value == null || value.isEmpty()) {
      throw new InvalidInputException("The field '" + field + "' is missing.");
    }
    return value;
  }
}
