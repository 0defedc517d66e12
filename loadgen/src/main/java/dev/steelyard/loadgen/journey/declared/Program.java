// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.journey.Mix;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The steps of a visit as a list of instructions: blocks become jumps and counters. */
final class Program {
  final List<Instruction> code = new ArrayList<>();

  private final DeclaredJourneys shared;

  /** Index of the step that is compiled next, over all visits. */
  private int step;

  private int counters;

  /** What is done next; gives the position from which the visit goes on. */
  interface Instruction {
    int run(DeclaredJourney journey, int next);
  }

  /**
   * Sends something, which is the only instruction that takes time.
   *
   * @param after position behind the last operation of its step
   */
  record Send(int step, Operation declared, int after) implements Instruction {
    @Override
    public int run(DeclaredJourney journey, int next) {
      return next;
    }
  }

  /**
   * @param step index of the first step
   */
  Program(DeclaredJourneys shared, int step, List<Action> actions) {
    this.shared = shared;
    this.step = step;
    compile(actions);
  }

  /** Rounds that have to be counted at once. */
  int counters() {
    return counters;
  }

  private void compile(List<Action> actions) {
    for (Action action : actions) {
      if (action instanceof JourneySpec.Step declared) {
        List<Operation> operations = Operation.of(declared).toList();
        int after = code.size() + operations.size();
        operations.forEach(each -> code.add(new Send(step++, each, after)));
      } else {
        compile((Block) action);
      }
    }
  }

  private void compile(Block block) {
    if (block.repeat() != null) {
      repeat(block);
    } else if (block.each() != null) {
      each(block);
    } else if (block.until() != null) {
      until(block);
    } else if (block.condition() != null) {
      branch(block);
    } else if (block.oneOf() != null) {
      choose(block.oneOf());
    } else {
      Feeder feeder = shared.feeder(block.take());
      code.add(
          (journey, next) -> {
            journey.take(feeder);
            return next;
          });
    }
  }

  private void repeat(Block block) {
    int counter = counters++;
    int least = block.repeat().get(0);
    int bound = block.repeat().get(block.repeat().size() - 1) + 1;
    code.add(
        (journey, next) -> {
          journey.counters[counter] =
              bound == least + 1 ? least : journey.user().random().nextInt(least, bound);
          return next;
        });
    int start = code.size();
    int test = reserve();
    compile(block.body());
    jump(start);
    int end = code.size();
    code.set(test, (journey, next) -> journey.counters[counter]-- > 0 ? next : end);
  }

  private void each(Block block) {
    int counter = counters++;
    int all = shared.slot(block.each());
    int single = shared.slot(block.as());
    code.add(
        (journey, next) -> {
          journey.counters[counter] = 0;
          return next;
        });
    int start = code.size();
    int test = reserve();
    compile(block.body());
    jump(start);
    int end = code.size();
    code.set(
        test,
        (journey, next) -> {
          List<?> values = journey.list(all);
          int round = journey.counters[counter]++;
          if (round >= values.size()) {
            return end;
          }
          journey.save(single, values.get(round));
          return next;
        });
  }

  private void until(Block block) {
    int counter = counters++;
    code.add(
        (journey, next) -> {
          journey.counters[counter] = block.atMost();
          return next;
        });
    int start = code.size();
    compile(block.body());
    Test reached = test(block.until());
    int end = code.size() + 1;
    code.add(
        (journey, next) -> {
          if (reached.holds(journey)) {
            return end;
          }
          if (--journey.counters[counter] > 0) {
            return start;
          }
          return block.optional() ? end : journey.giveUp();
        });
  }

  private void branch(Block block) {
    Test condition = test(block.condition());
    int test = reserve();
    compile(block.body());
    int leave = reserve();
    int otherwise = code.size();
    compile(block.otherwise());
    int end = code.size();
    code.set(test, (journey, next) -> condition.holds(journey) ? next : otherwise);
    code.set(leave, (journey, next) -> end);
  }

  private void choose(List<Block.Choice> choices) {
    Mix mix = new Mix(choices.stream().mapToDouble(Block.Choice::weight).toArray());
    int[] starts = new int[choices.size()];
    int[] leaves = new int[choices.size()];
    int draw = reserve();
    for (int i = 0; i < starts.length; i++) {
      starts[i] = code.size();
      compile(choices.get(i).body());
      leaves[i] = reserve();
    }
    int end = code.size();
    code.set(draw, (journey, next) -> starts[mix.draw(journey.user().random())]);
    for (int leave : leaves) {
      code.set(leave, (journey, next) -> end);
    }
  }

  private int reserve() {
    code.add(null);
    return code.size() - 1;
  }

  private void jump(int to) {
    code.add((journey, next) -> to);
  }

  /** Whether a condition holds for a user. */
  private interface Test {
    boolean holds(DeclaredJourney journey);
  }

  private Test test(Condition condition) {
    if (condition.chance() != null) {
      return journey -> journey.user().random().nextDouble() < condition.chance();
    }
    if (condition.saved() != null) {
      int slot = shared.slot(condition.saved());
      return journey -> journey.has(slot);
    }
    if (condition.missing() != null) {
      int slot = shared.slot(condition.missing());
      return journey -> !journey.has(slot);
    }
    Template value = shared.template(condition.value(), Template.Place.TEXT);
    if (condition.matches() != null) {
      Pattern pattern = Pattern.compile(condition.matches());
      return journey -> {
        String text = journey.known(value);
        return text != null && pattern.matcher(text).find();
      };
    }
    boolean same = condition.is() != null;
    String other = (same ? condition.is() : condition.isNot()).asText();
    Template expected = shared.template(other, Template.Place.TEXT);
    return journey -> {
      String text = journey.known(value);
      return same == (text != null && text.equals(journey.known(expected)));
    };
  }
}
