// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import java.math.BigDecimal;

/** Texts as the Pages show them. */
public final class Html {

  private Html() {}

  /** What somebody gave, so that it is text and nothing else; null is nothing. */
  public static String text(Object given) {
    if (given == null) {
      return "";
    }
    String text = given.toString();
    StringBuilder safe = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> safe.append("&lt;");
        case '>' -> safe.append("&gt;");
        case '&' -> safe.append("&amp;");
        case '"' -> safe.append("&quot;");
        case '\'' -> safe.append("&#39;");
        default -> safe.append(c);
      }
    }
    return safe.toString();
  }

  /** A gain: green with an arrow up, or red with one down. */
  public static String gain(BigDecimal gain) {
    return coloured(gain, "$" + gain);
  }

  /** A gain in percent, coloured likewise. */
  public static String percent(BigDecimal gain) {
    return coloured(gain, gain + "%");
  }

  private static String coloured(BigDecimal gain, String text) {
    return gain.signum() < 0
        ? "<FONT color=\"#cc0000\">" + text + "&nbsp;&#9660;</FONT>"
        : "<FONT color=\"#009900\">" + text + "&nbsp;&#9650;</FONT>";
  }

  /** A link to the stock's row, in a page of quotes. */
  public static String quoteLink(String symbol) {
    String safe = text(symbol);
    return "<A href=\"app?action=quotes&symbols=" + safe + "\">" + safe + "</A>";
  }
}
