// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.json;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Ways of setting JSON: they differ in white space only, and so in the bytes of an answer.
 *
 * <p>Prints maps, lists, strings, numbers, booleans and null; members in the order of the map.
 */
public enum JsonStyle {
  /** <code>{ "a" : 1, "b" : 2 }</code>, as the monolith's documents are set. */
  WIDE("{ ", " : ", ", ", " }", "[", "]"),
  /** <code>{"a": 1, "b": 2}</code>, as the microservices' documents are set. */
  RELAXED("{", ": ", ", ", "}", "[", "]"),
  /** <code>{"a":1,"b":2}</code>, as the frames around documents are set. */
  COMPACT("{", ":", ",", "}", "[", "]");

  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private final String open;
  private final String colon;
  private final String comma;
  private final String close;
  private final String listOpen;
  private final String listClose;

  JsonStyle(
      String open, String colon, String comma, String close, String listOpen, String listClose) {
    this.open = open;
    this.colon = colon;
    this.comma = comma;
    this.close = close;
    this.listOpen = listOpen;
    this.listClose = listClose;
  }

  /**
   * The text of an object.
   *
   * @param dates how dates are set, as strings
   */
  public String print(Map<String, ?> object, Function<Instant, String> dates) {
    StringBuilder out = new StringBuilder(512);
    object(object, dates, out);
    return out.toString();
  }

  /**
   * The text of an object that holds no dates.
   *
   * @throws IllegalArgumentException if it does hold one
   */
  public String print(Map<String, ?> object) {
    return print(
        object,
        date -> {
          throw new IllegalArgumentException("No date is expected here: " + date);
        });
  }

  /** The text of an array of these texts, each of which is JSON already. */
  public String array(List<String> texts) {
    return String.join(comma, texts).transform(inner -> listOpen + inner + listClose);
  }

  private void object(Map<String, ?> object, Function<Instant, String> dates, StringBuilder out) {
    if (object.isEmpty()) {
      out.append("{}");
      return;
    }
    String before = open;
    for (Map.Entry<String, ?> member : object.entrySet()) {
      out.append(before);
      quote(member.getKey(), out);
      out.append(colon);
      value(member.getValue(), dates, out);
      before = comma;
    }
    out.append(close);
  }

  @SuppressWarnings("unchecked") // The keys of a document are strings.
  private void value(Object value, Function<Instant, String> dates, StringBuilder out) {
    if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else if (value instanceof Map<?, ?> map) {
      object((Map<String, ?>) map, dates, out);
    } else if (value instanceof List<?> list) {
      list(list, dates, out);
    } else if (value instanceof Instant date) {
      quote(dates.apply(date), out);
    } else {
      quote(value.toString(), out);
    }
  }

  private void list(List<?> list, Function<Instant, String> dates, StringBuilder out) {
    String before = listOpen;
    for (Object element : list) {
      out.append(before);
      value(element, dates, out);
      before = comma;
    }
    out.append(list.isEmpty() ? listOpen + listClose : listClose);
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < ' ') {
            out.append("\\u00").append(HEX[c >> 4]).append(HEX[c & 15]);
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
