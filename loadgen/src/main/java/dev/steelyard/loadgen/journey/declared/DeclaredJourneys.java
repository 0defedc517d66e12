// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.Mix;
import dev.steelyard.loadgen.journey.User;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/** A declared journey, compiled: names are numbers, and what is constant is put together. */
public final class DeclaredJourneys implements Journeys {
  final Visit[] visits;
  final Mix mix;
  final boolean inTurn;
  final int slots;
  final List<Function<User, String>> draws = new ArrayList<>();

  private final Map<String, String> constants;
  private final Map<String, Integer> variables = new HashMap<>();

  /** A visit, and the index of its first step. */
  record Visit(int first, JourneySpec.Visit declared) {}

  /**
   * @param spec the declaration
   * @param constants name to value
   * @param weights of the visits, in their order
   * @param inTurn whether the visits with a weight are taken in turn and not drawn
   */
  public DeclaredJourneys(
      JourneySpec spec, Map<String, String> constants, double[] weights, boolean inTurn) {
    this.constants = constants;
    this.inTurn = inTurn;
    mix = new Mix(weights);
    List<Visit> compiled = new ArrayList<>();
    spec.variables()
        .forEach(
            (name, variable) -> {
              variables.put(name, draws.size());
              draws.add(draw(variable));
            });
    int first = 0;
    for (JourneySpec.Visit visit : spec.visits().values()) {
      compiled.add(new Visit(first, visit));
      first += visit.steps().size();
      for (JourneySpec.Step step : visit.steps()) {
        step.save().keySet().forEach(name -> variables.putIfAbsent(name, variables.size()));
      }
    }
    visits =
        IntStream.range(0, weights.length)
            .filter(i -> weights[i] > 0 || !inTurn)
            .mapToObj(compiled::get)
            .toArray(Visit[]::new);
    slots = variables.size();
  }

  private static Function<User, String> draw(JourneySpec.Variable variable) {
    if (variable.user() != null) {
      return user -> Long.toString(user.index() + variable.user());
    }
    if (variable.choose() != null) {
      List<String> values = List.copyOf(variable.choose());
      return user -> values.get(user.random().nextInt(values.size()));
    }
    long least = variable.random().get(0);
    long bound = variable.random().get(1) + 1;
    return user -> Long.toString(user.random().nextLong(least, bound));
  }

  /** Takes a text apart. */
  public Template template(String text) {
    return new Template(text, constants, variables);
  }

  /** Where the values of a variable are kept. */
  public int slot(String variable) {
    return variables.get(variable);
  }

  @Override
  public DeclaredJourney start(User user) {
    return new DeclaredJourney(this, user);
  }
}
