// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import java.util.Collection;
import java.util.Objects;
import java.util.stream.Stream;

/** Settings that cannot be run; the message is one sentence for the user. */
public final class SettingsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String key;
  private final String problem;

  /**
   * @param message one sentence that says what is wrong and what is allowed
   */
  public SettingsException(String message) {
    this(null, message);
  }

  /**
   * @param key the setting, as a path from the object that was being read
   * @param problem the rest of the sentence, such as {@code is 0: it must be at least 1}
   */
  public SettingsException(String key, String problem) {
    super(key == null ? problem : "Setting \"%s\" %s.".formatted(key, problem));
    this.key = key;
    this.problem = problem;
  }

  /** The same, seen from the object that holds the one that was being read. */
  SettingsException within(String path) {
    return key == null || path.isEmpty()
        ? this
        : new SettingsException(path + (key.isEmpty() ? "" : "." + key), problem);
  }

  /** A value that is there and must be. */
  public static <T> T needed(String key, T value) {
    if (value == null) {
      throw new SettingsException(key, "is missing: add it");
    }
    return value;
  }

  /** A number from min to max, both included. */
  public static <N extends Number> N within(String key, N value, double min, double max) {
    double given = needed(key, value).doubleValue();
    if (!(given >= min && given <= max)) {
      String kind = value instanceof Double ? "number" : "whole number";
      throw must(key, value, "a %s from %s to %s".formatted(kind, plain(min), plain(max)));
    }
    return value;
  }

  /** One of several values is there, and no other. */
  public static void one(String names, Object... values) {
    if (Stream.of(values).filter(Objects::nonNull).count() != 1) {
      throw new SettingsException("", "must have exactly one of %s".formatted(names));
    }
  }

  /** A collection that holds something. */
  public static <C extends Collection<?>> C filled(String key, C values) {
    if (needed(key, values).isEmpty()) {
      throw new SettingsException(key, "is empty: it must hold something");
    }
    return values;
  }

  /** A refusal of a value. */
  public static SettingsException must(String key, Object value, String allowed) {
    String shown = value instanceof CharSequence ? "\"" + value + "\"" : String.valueOf(value);
    return new SettingsException(key, "is %s: it must be %s".formatted(shown, allowed));
  }

  private static String plain(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }
}
