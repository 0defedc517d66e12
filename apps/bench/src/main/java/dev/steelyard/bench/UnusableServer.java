// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

/** The end of a server that was started to be measured and is of no use half alive. */
public final class UnusableServer {

  private UnusableServer() {}

  /**
   * Ends this process at once, after one sentence on standard output. Does not return.
   *
   * @param sentence what is wrong, and what to do
   * @param code the exit code
   */
  public static void end(String sentence, int code) {
    System.out.println(sentence);
    System.out.flush();
    // Not exit: its hooks would wait for the application, which is just being started.
    Runtime.getRuntime().halt(code);
  }
}
