// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import io.gatling.javaapi.core.Session;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;

/** Validators of values that Gatling's checks extract. */
final class Validators {
  private Validators() {}

  /**
   * A validator that leaves the value as it is.
   *
   * @param reader is given the value, and throws if it is wrong
   */
  static <T> BiFunction<T, Session, T> validator(BiConsumer<T, Session> reader) {
    return (value, session) -> {
      reader.accept(value, session);
      return value;
    };
  }
}
