// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

/** What carries out the operations; the place in the list is the value of {@code RunTimeMode}. */
public enum RunMode {
  /** Session beans and Persistence, with the container's transactions. */
  EJB(0, "Full EJB3"),
  /** Plain JDBC, committed by hand. */
  DIRECT(1, "Direct (JDBC)");

  private final int value;
  private final String shown;

  RunMode(int value, String shown) {
    this.value = value;
    this.shown = shown;
  }

  /** The name on the pages. */
  public String shown() {
    return shown;
  }

  /** Its number in the settings, which is its place in the list. */
  public int value() {
    return value;
  }
}
