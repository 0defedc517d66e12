// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

/**
 * An answer whose body is not what it has to be. The message is the same for all answers that are
 * wrong in the same way, so that they can be counted: it holds nothing of the answer.
 */
public final class WrongAnswer extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message what is wrong
   */
  public WrongAnswer(String message) {
    // Where it was thrown says nothing that the message does not.
    super(message, null, false, false);
  }
}
