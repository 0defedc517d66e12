// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench.settings;

import static java.util.stream.Collectors.joining;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Reads settings from environment variables. An empty variable counts as one that is not set, as
 * compose files pass on what nobody gave.
 */
public final class Environment {

  private final Map<String, String> variables;

  /** Reads these, name by value. */
  public Environment(Map<String, String> variables) {
    this.variables = Map.copyOf(variables);
  }

  /** The first of these variables that is set. */
  public Optional<String> text(String... names) {
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
  public int number(String name, int preset, int least, int most) {
    return parsed(
        name,
        preset,
        "a whole number from " + least + " to " + most,
        text -> {
          long number = whole(text);
          if (number < least || number > most) {
            throw new IllegalArgumentException(text);
          }
          return (int) number;
        });
  }

  /**
   * A whole number as every setting has it: digits, after a minus where it is below zero.
   *
   * @throws IllegalArgumentException for anything else, a plus and digits of other scripts too
   */
  public static long whole(String text) {
    if (!text.matches("-?[0-9]+")) {
      throw new IllegalArgumentException(text);
    }
    return Long.parseLong(text);
  }

  /**
   * {@code true} or {@code false}.
   *
   * @throws SettingsException for anything else
   */
  public boolean flag(String name, boolean preset) {
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
   * One of the constants of the preset's type, written as {@link #word} does.
   *
   * @throws SettingsException for anything else
   */
  public <E extends Enum<E>> E choice(String name, E preset) {
    Class<E> type = preset.getDeclaringClass();
    return parsed(
        name,
        preset,
        Stream.of(type.getEnumConstants()).map(Environment::word).collect(joining(" or ")),
        text ->
            Stream.of(type.getEnumConstants())
                .filter(constant -> word(constant).equals(text))
                .findFirst()
                .orElseThrow());
  }

  /** A constant as users write it. */
  public static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /**
   * A value that a parser understands.
   *
   * @param wanted what is understood, in words, for the message
   * @param parser throws a runtime exception for what it does not understand
   * @throws SettingsException for that
   */
  public <T> T parsed(String name, T preset, String wanted, Function<String, T> parser) {
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
