// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A text with {@code ${name}} in it, taken apart once; constants are put in at once. Values are
 * encoded for the place in which they stand; {@code ${+name}} puts one in as it is, as the reserved
 * expansion of URI templates does (RFC 6570, section 3.2.3).
 */
public final class Template {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}]*)}");

  /** Where a text is sent. */
  public enum Place {
    /** Values as they are. */
    TEXT,
    /** A path with its query: percent-encoded, but for one that begins it and so is an address. */
    URL,
    /** A url-encoded form: percent-encoded. */
    FORM,
    /** JSON: escaped within its strings, and as they are elsewhere. */
    JSON,
    /** XML: escaped, as content and as values of attributes. */
    XML
  }

  private enum Encoding {
    NONE,
    PERCENT,
    JSON,
    XML,
    CDATA;

    String of(String value) {
      return switch (this) {
        case NONE -> value;
        // For a form, whose space is a plus sign.
        case PERCENT -> URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
        case JSON -> new String(JsonStringEncoder.getInstance().quoteAsString(value));
        case XML ->
            value
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&apos;");
        // Its end can stand in none: it is divided over two.
        case CDATA -> value.replace("]]>", "]]]]><![CDATA[>");
      };
    }
  }

  private final List<String> names = new ArrayList<>();
  private final List<String> literals = new ArrayList<>();
  private final List<Encoding> encodings = new ArrayList<>();
  private final int[] slots;

  /**
   * @param text with references
   * @param place where it is sent
   * @param constants name to value
   * @param variables name to slot
   * @throws SettingsException if a reference is to neither
   */
  Template(
      String text, Place place, Map<String, String> constants, Map<String, Integer> variables) {
    StringBuilder literal = new StringBuilder();
    List<Integer> found = new ArrayList<>();
    Matcher reference = REFERENCE.matcher(text);
    int end = 0;
    while (reference.find()) {
      literal.append(text, end, reference.start());
      end = reference.end();
      String name = name(reference.group(1));
      boolean plain = name.length() < reference.group(1).length();
      Encoding encoding =
          plain ? Encoding.NONE : encoding(place, text.substring(0, reference.start()));
      if (variables.containsKey(name)) {
        literals.add(literal.toString());
        literal.setLength(0);
        names.add(name);
        encodings.add(encoding);
        found.add(variables.get(name));
      } else if (constants.containsKey(name)) {
        literal.append(encoding.of(constants.get(name)));
      } else {
        throw new SettingsException(
            "journey", "uses ${%s} in \"%s\", which nothing gives a value".formatted(name, text));
      }
    }
    literals.add(literal.append(text, end, text.length()).toString());
    slots = found.stream().mapToInt(Integer::intValue).toArray();
  }

  private static String name(String written) {
    return written.startsWith("+") ? written.substring(1) : written;
  }

  private static Encoding encoding(Place place, String before) {
    return switch (place) {
      case TEXT -> Encoding.NONE;
      case URL -> before.isEmpty() ? Encoding.NONE : Encoding.PERCENT;
      case FORM -> Encoding.PERCENT;
      case JSON -> isWithinString(before) ? Encoding.JSON : Encoding.NONE;
      case XML ->
          before.lastIndexOf("<![CDATA[") > before.lastIndexOf("]]>")
              ? Encoding.CDATA
              : Encoding.XML;
    };
  }

  private static boolean isWithinString(String json) {
    boolean within = false;
    for (int i = 0; i < json.length(); i++) {
      if (within && json.charAt(i) == '\\') {
        i++;
      } else if (json.charAt(i) == '"') {
        within = !within;
      }
    }
    return within;
  }

  /** The names that texts refer to. */
  static List<String> names(String text) {
    return REFERENCE.matcher(text).results().map(each -> name(each.group(1))).toList();
  }

  /** The text if it is always the same, otherwise null. */
  public String constant() {
    return slots.length == 0 ? literals.get(0) : null;
  }

  /**
   * The text for the values of a user; of a list, its values with commas.
   *
   * @throws WrongAnswer if a value is missing that an answer was to give
   */
  public String of(Object[] values) {
    StringBuilder text = new StringBuilder(literals.get(0));
    for (int i = 0; i < slots.length; i++) {
      Object value = values[slots[i]];
      if (value == null) {
        throw new WrongAnswer("no answer gave ${" + names.get(i) + "} a value");
      }
      String written =
          value instanceof List<?> list
              ? String.join(",", list.stream().map(String::valueOf).toList())
              : value.toString();
      text.append(encodings.get(i).of(written)).append(literals.get(i + 1));
    }
    return text.toString();
  }
}
