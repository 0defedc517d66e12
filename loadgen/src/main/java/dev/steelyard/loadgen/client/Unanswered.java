// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

/**
 * The connection ended before an answer began. Nobody can tell on this side whether the server has
 * served the request.
 */
public final class Unanswered extends UnfinishedAnswer {
  private static final long serialVersionUID = 1;

  /** What {@link #getMessage} begins with. */
  public static final String BEGINNING = "no answer: ";

  Unanswered(String why) {
    super(BEGINNING + why);
  }
}
