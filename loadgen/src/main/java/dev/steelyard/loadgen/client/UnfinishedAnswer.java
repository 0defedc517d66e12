// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import java.io.IOException;

/** An answer that did not come to its end: it was cut off, or took too long. */
public class UnfinishedAnswer extends IOException {
  private static final long serialVersionUID = 1;

  UnfinishedAnswer(String why) {
    super(why);
  }

  /** Thousands of them may come at once, and nobody reads where. */
  @Override
  public final synchronized Throwable fillInStackTrace() {
    return this;
  }
}
