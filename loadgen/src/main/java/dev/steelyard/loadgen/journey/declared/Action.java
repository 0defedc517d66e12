// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/** What stands in a list of steps: an operation, or steps with a rule of when they are played. */
public sealed interface Action permits JourneySpec.Step, Block {
  /** The operations that it holds, in the order of the declaration. */
  Stream<JourneySpec.Step> steps();

  /** All that may hold {@code ${name}}. */
  Stream<String> texts();

  /** The operations of a list. */
  static Stream<JourneySpec.Step> steps(List<Action> actions) {
    return actions.stream().flatMap(Action::steps);
  }

  /** Tells them apart by the key that every operation has. */
  final class Reader extends JsonDeserializer<Action> {
    @Override
    public Action deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      JsonNode tree = context.readTree(parser);
      boolean block = Block.KINDS.stream().anyMatch(tree::has) && !tree.has("operation");
      return block
          ? context.readTreeAsValue(tree, Block.class)
          : context.readTreeAsValue(tree, JourneySpec.Step.class);
    }
  }
}
