// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

/**
 * The pages that {@code /app} shows; the place in the list is the value of {@code WebInterface}.
 */
public enum WebInterface {
  JSP(0, "JSP"),
  /** The same pages with pictures to navigate by. */
  JSP_IMAGES(1, "JSP-Images");

  private final int value;
  private final String shown;

  WebInterface(int value, String shown) {
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
