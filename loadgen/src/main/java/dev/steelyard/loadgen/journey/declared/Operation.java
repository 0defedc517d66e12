// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.needed;

import dev.steelyard.loadgen.journey.Pause;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What is sent and measured at once: a step, or one exchange of its WebSocket.
 *
 * @param number of the exchange, from 0; 0 for a step without
 */
public record Operation(JourneySpec.Step step, int number) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/-]*");

  static void checkName(String name) {
    if (!NAME.matcher(needed("operation", name)).matches()) {
      throw must("operation", name, "a name of letters, digits and . _ / -");
    }
  }

  /** Those of a step, in order. */
  public static Stream<Operation> of(JourneySpec.Step step) {
    return IntStream.rangeClosed(0, last(step)).mapToObj(number -> new Operation(step, number));
  }

  private static int last(JourneySpec.Step step) {
    return step.websocket() == null ? 0 : step.websocket().exchanges().size() - 1;
  }

  /** The exchange, or null for a step without. */
  public StreamSpec.Exchange exchange() {
    return step.websocket() == null ? null : step.websocket().exchanges().get(number);
  }

  /** What it is measured as. */
  public String name() {
    StreamSpec.Exchange exchange = exchange();
    return exchange == null || exchange.operation() == null
        ? step.operation()
        : exchange.operation();
  }

  /** Before the next operation; null leaves it to the settings. */
  Pause pause() {
    StreamSpec.Exchange exchange = exchange();
    return exchange == null || exchange.pause() == null ? step.pause() : exchange.pause();
  }

  /** Whether it begins its step. */
  public boolean isFirst() {
    return number == 0;
  }

  /** Whether it ends its step. */
  public boolean isLast() {
    return number == last(step);
  }
}
