// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static com.fasterxml.jackson.annotation.JsonFormat.Feature.ACCEPT_SINGLE_VALUE_AS_ARRAY;
import static dev.steelyard.loadgen.SettingsException.filled;
import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.one;
import static dev.steelyard.loadgen.SettingsException.within;
import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.steelyard.loadgen.SettingsException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Steps with a rule of when they are played: one of repeat, each, until, if and one_of; or take.
 *
 * @param repeat how often: a number, or the least and the greatest of those that are drawn
 * @param each variable with all values of a {@code save}: once for each of them
 * @param as variable that is given the value of each
 * @param until again and again, until this holds at their end
 * @param atMost how often, should it never hold
 * @param condition only if this holds at their start
 * @param oneOf one of these, drawn by weight
 * @param take feeder of which the visit takes its next row here, in place of one at its beginning
 * @param body the steps
 * @param otherwise steps in their place if the condition does not hold
 * @param optional whether the visit goes on when {@code until} never held
 */
public record Block(
    @JsonFormat(with = ACCEPT_SINGLE_VALUE_AS_ARRAY) List<Integer> repeat,
    String each,
    String as,
    Condition until,
    @JsonProperty("at_most") Integer atMost,
    @JsonProperty("if") Condition condition,
    @JsonProperty("one_of") List<Choice> oneOf,
    String take,
    @JsonProperty("steps") List<Action> body,
    @JsonProperty("else") List<Action> otherwise,
    Boolean optional)
    implements Action {
  static final List<String> KINDS = List.of("repeat", "each", "until", "if", "one_of", "take");
  private static final int MAX_ROUNDS = 1_000_000;

  /** Fills in and checks. */
  public Block {
    one(String.join(", ", KINDS), repeat, each, until, condition, oneOf, take);
    if (repeat != null
        && (repeat.isEmpty()
            || repeat.size() > 2
            || repeat.get(0) < 0
            || repeat.get(0) > repeat.get(repeat.size() - 1)
            || repeat.get(repeat.size() - 1) > MAX_ROUNDS)) {
      throw must("repeat", repeat, "a number of rounds, or the least and the greatest of them");
    }
    if ((each == null) != (as == null)) {
      throw new SettingsException("each", "and as belong together: give both");
    }
    if (until != null) {
      within("at_most", atMost, 1, MAX_ROUNDS);
    }
    if (take != null) {
      body = List.of();
    } else if (oneOf == null) {
      body = List.copyOf(filled("steps", body));
    } else {
      filled("one_of", oneOf);
    }
    otherwise = requireNonNullElse(otherwise, List.of());
    optional = requireNonNullElse(optional, false);
  }

  /**
   * One of several ways to go on.
   *
   * @param weight how often it is drawn, against the others
   * @param body its steps
   */
  public record Choice(Double weight, @JsonProperty("steps") List<Action> body) {
    /** Fills in and checks. */
    public Choice {
      weight = within("weight", requireNonNullElse(weight, 1.0), 1e-9, 1e9);
      body = requireNonNullElse(body, List.of());
    }
  }

  /** Whether its steps are played sooner or later, whatever answers say. */
  public boolean comesForSure() {
    boolean never = repeat != null && repeat.get(repeat.size() - 1) == 0;
    return oneOf != null
        || until != null
        || (repeat != null && !never)
        || (condition != null
            && condition.chance() != null
            && condition.chance() > 0
            && (condition.chance() < 1 || otherwise.isEmpty()));
  }

  /** Whether some of these end the visit when what they wait for never holds. */
  public static boolean mayGiveUp(List<Action> actions) {
    return actions.stream()
        .anyMatch(
            action ->
                action instanceof Block block
                    && ((block.until != null && !block.optional) || mayGiveUp(block.actions())));
  }

  /** Feeders of which some of these take a row. */
  static Stream<String> taken(List<Action> actions) {
    return actions.stream()
        .filter(Block.class::isInstance)
        .map(Block.class::cast)
        .flatMap(block -> block.take != null ? Stream.of(block.take) : taken(block.actions()));
  }

  /** All that it holds, in the order of the declaration. */
  public List<Action> actions() {
    return oneOf == null
        ? Stream.concat(body.stream(), otherwise.stream()).toList()
        : oneOf.stream().flatMap(choice -> choice.body.stream()).toList();
  }

  @Override
  public Stream<JourneySpec.Step> steps() {
    return Action.steps(actions());
  }

  @Override
  public Stream<String> texts() {
    return Stream.concat(
        Stream.of(until, condition).filter(Objects::nonNull).flatMap(Condition::texts),
        actions().stream().flatMap(Action::texts));
  }
}
