// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * A page while it is written. In a template, {@code {}} stands for the next value, which becomes
 * text and never markup, and {@code {/}} for the address of the application.
 */
final class Html {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("EEE, d MMM yyyy, HH:mm", Locale.ENGLISH);

  private final StringBuilder out = new StringBuilder(16_384);
  private final String root;

  Html(String root) {
    this.root = root;
  }

  /** Adds what is markup already. */
  Html add(String markup) {
    out.append(markup);
    return this;
  }

  /** Adds a template with its values filled in. */
  Html fill(String template, Object... values) {
    int next = 0;
    int done = 0;
    int brace = template.indexOf('{');
    while (brace >= 0) {
      if (template.startsWith("}", brace + 1)) {
        out.append(template, done, brace);
        text(values[next++]);
        done = brace + 2;
      } else if (template.startsWith("/}", brace + 1)) {
        out.append(template, done, brace).append(root);
        done = brace + 3;
      }
      brace = template.indexOf('{', brace + 1);
    }
    out.append(template, done, template.length());
    return this;
  }

  private void text(Object value) {
    String text = value == null ? "" : value.toString();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '&' -> out.append("&amp;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        default -> out.append(c);
      }
    }
  }

  /** A value of a parameter, as it stands in an address. */
  static String url(String value) {
    return URLEncoder.encode(value == null ? "" : value, StandardCharsets.UTF_8);
  }

  /** A time for people. */
  static String time(LocalDateTime time) {
    return time == null ? "" : TIME.format(time);
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
