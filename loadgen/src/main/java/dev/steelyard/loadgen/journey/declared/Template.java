// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A text with {@code ${name}} in it, taken apart once; constants are put in at once. */
public final class Template {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}]*)}");

  private final List<String> names = new ArrayList<>();
  private final List<String> literals = new ArrayList<>();
  private final int[] slots;

  /**
   * @param text with references
   * @param constants name to value
   * @param variables name to slot
   * @throws SettingsException if a reference is to neither
   */
  Template(String text, Map<String, String> constants, Map<String, Integer> variables) {
    StringBuilder literal = new StringBuilder();
    List<Integer> found = new ArrayList<>();
    Matcher reference = REFERENCE.matcher(text);
    int end = 0;
    while (reference.find()) {
      literal.append(text, end, reference.start());
      end = reference.end();
      String name = reference.group(1);
      if (variables.containsKey(name)) {
        literals.add(literal.toString());
        literal.setLength(0);
        names.add(name);
        found.add(variables.get(name));
      } else if (constants.containsKey(name)) {
        literal.append(constants.get(name));
      } else {
        throw new SettingsException(
            "journey", "uses ${%s} in \"%s\", which nothing gives a value".formatted(name, text));
      }
    }
    literals.add(literal.append(text, end, text.length()).toString());
    slots = found.stream().mapToInt(Integer::intValue).toArray();
  }

  /** The text if it is always the same, otherwise null. */
  public String constant() {
    return slots.length == 0 ? literals.get(0) : null;
  }

  /**
   * The text for the values of a user.
   *
   * @throws WrongAnswer if a value is missing that an answer was to give
   */
  public String of(String[] values) {
    StringBuilder text = new StringBuilder(literals.get(0));
    for (int i = 0; i < slots.length; i++) {
      String value = values[slots[i]];
      if (value == null) {
        throw new WrongAnswer("no answer gave ${" + names.get(i) + "} a value");
      }
      text.append(value).append(literals.get(i + 1));
    }
    return text.toString();
  }
}
