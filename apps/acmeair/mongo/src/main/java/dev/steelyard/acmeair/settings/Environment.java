// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.settings;

import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads settings from environment variables. An empty variable counts as one that is not set, as
 * compose files pass on what nobody gave.
 */
final class Environment {

  private final Map<String, String> variables;

  Environment(Map<String, String> variables) {
    this.variables = Map.copyOf(variables);
  }

  /** The first of these variables that is set. */
  Optional<String> text(String... names) {
    for (String name : names) {
      String value = variables.getOrDefault(name, "").strip();
      if (!value.isEmpty()) {
        return Optional.of(value);
      }
    }
    return Optional.empty();
  }

  /**
   * A whole number from {@code least} to {@code most}.
   *
   * @throws SettingsException for anything else
   */
  int number(String name, int preset, int least, int most) {
    return parsed(
        name,
        preset,
        "a whole number from " + least + " to " + most,
        text -> {
          int number = Integer.parseInt(text);
          if (number < least || number > most) {
            throw new IllegalArgumentException(text);
          }
          return number;
        });
  }

  /**
   * {@code true} or {@code false}.
   *
   * @throws SettingsException for anything else
   */
  boolean flag(String name, boolean preset) {
    return parsed(
        name,
        preset,
        "true or false",
        text ->
            switch (text) {
              case "true" -> true;
              case "false" -> false;
              default -> throw new IllegalArgumentException(text);
            });
  }

  /**
   * A value that a parser understands.
   *
   * @param wanted what is understood, in words, for the message
   * @param parser throws a runtime exception for what it does not understand
   * @throws SettingsException for that
   */
  <T> T parsed(String name, T preset, String wanted, Function<String, T> parser) {
    Optional<String> text = text(name);
    if (text.isEmpty()) {
      return preset;
    }
    try {
      return parser.apply(text.get());
    } catch (RuntimeException e) {
      throw new SettingsException("%s is '%s': set it to %s.".formatted(name, text.get(), wanted));
    }
  }
}
