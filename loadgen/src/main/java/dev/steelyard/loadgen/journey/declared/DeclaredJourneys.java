// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.Mix;
import dev.steelyard.loadgen.journey.User;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A declared journey, compiled: names are numbers, and what is constant is put together. */
public final class DeclaredJourneys implements Journeys {
  /** Index of the outcome of a visit whose {@code until} never held. */
  public static final int GIVEN_UP = 0;

  final Visit[] visits;
  final Mix mix;
  final boolean inTurn;
  final int slots;
  final int counters;
  final List<Function<User, String>> draws = new ArrayList<>();

  /** Slots whose values outlive a visit. */
  final BitSet kept = new BitSet();

  IntConsumer outcomes = unseen -> {};

  private final Map<String, String> constants;
  private final Map<String, Integer> variables = new LinkedHashMap<>();

  private final Map<String, Feeder> feeders = new HashMap<>();

  /** By step: selectors of the forms of its answer that the next one sends. */
  private final List<String> forms = new ArrayList<>();

  /** A visit, what it does, and the feeders that it takes a row of. */
  record Visit(JourneySpec.Visit declared, List<Program.Instruction> code, List<Feeder> feeders) {}

  /**
   * The part of an injector in what all share.
   *
   * @param injector its index
   * @param injectors how many there are
   */
  public record Share(int injector, int injectors) {
    /** Of a run with one. */
    public static final Share ALL = new Share(0, 1);
  }

  /**
   * @param spec the declaration
   * @param constants name to value
   * @param weights of the visits, in their order
   * @param inTurn whether the visits with a weight are taken in turn and not drawn
   * @param share which rows of feeders are its own
   */
  public DeclaredJourneys(
      JourneySpec spec,
      Map<String, String> constants,
      double[] weights,
      boolean inTurn,
      Share share) {
    this.constants = constants;
    this.inTurn = inTurn;
    mix = new Mix(weights);
    spec.variables()
        .forEach(
            (name, variable) -> {
              variables.put(name, draws.size());
              draws.add(draw(variable));
            });
    spec.feeders()
        .forEach(
            (name, feeder) -> {
              int first = variables.size();
              feeder.columns().forEach(column -> addSlot(name + "." + column));
              feeders.put(
                  name, new Feeder(name, feeder, share.injector(), share.injectors(), first));
            });
    spec.visits().values().forEach(visit -> addSlots(visit.steps()));
    spec.visits().values().forEach(visit -> findForms(visit.flat()));
    slots = variables.size();
    List<Visit> compiled = new ArrayList<>();
    int first = 0;
    int most = 0;
    for (JourneySpec.Visit visit : spec.visits().values()) {
      Program program = new Program(this, first, visit.steps());
      Set<String> used =
          visit.texts().stream()
              .flatMap(text -> Template.names(text).stream())
              .map(name -> name.replaceFirst("\\..*", ""))
              .collect(Collectors.toSet());
      used.removeAll(Block.taken(visit.steps()).toList());
      List<Feeder> own =
          feeders.keySet().stream().filter(used::contains).sorted().map(feeders::get).toList();
      compiled.add(new Visit(visit, List.copyOf(program.code), own));
      first += visit.flat().size();
      most = Math.max(most, program.counters());
    }
    counters = most;
    visits =
        IntStream.range(0, weights.length)
            .filter(i -> weights[i] > 0 || !inTurn)
            .mapToObj(compiled::get)
            .toArray(Visit[]::new);
  }

  private void addSlot(String name) {
    variables.putIfAbsent(name, variables.size());
  }

  private void addSlot(String name, JourneySpec.Save save) {
    addSlot(name);
    if (save.keep()) {
      kept.set(slot(name));
    }
  }

  private void addSlots(List<Action> actions) {
    for (Action action : actions) {
      if (action instanceof JourneySpec.Step step) {
        step.saves().forEach(saves -> saves.forEach(this::addSlot));
      } else if (action instanceof Block block) {
        if (block.as() != null) {
          addSlot(block.as());
        }
        addSlots(block.actions());
      }
    }
  }

  /** A form is that of the page that the step before, as it is written, asks for. */
  private void findForms(List<Operation> operations) {
    List<JourneySpec.Step> steps = operations.stream().map(Operation::step).toList();
    for (int i = 0; i < steps.size(); i++) {
      JourneySpec.Submit next = i + 1 < steps.size() ? steps.get(i + 1).submit() : null;
      if (steps.get(i).submit() != null && (i == 0 || !steps.get(i - 1).hasPage())) {
        throw new SettingsException(
            "journey",
            "submits a form in %s, and the step before it asks for no page"
                .formatted(steps.get(i).operation()));
      }
      forms.add(next == null ? null : next.form());
      if (next != null) {
        addSlot(formName(next.form()));
      }
    }
  }

  private static String formName(String selector) {
    return "form " + selector;
  }

  /** Selector of the form of a step's answer that is kept, or null. */
  public String formOf(int step) {
    return forms.get(step);
  }

  /** Where a form is kept. */
  public int formSlot(String selector) {
    return slot(formName(selector));
  }

  /**
   * A feeder.
   *
   * @throws SettingsException if there is none of that name
   */
  Feeder feeder(String name) {
    Feeder feeder = feeders.get(name);
    if (feeder == null) {
      throw new SettingsException(
          "journey", "takes a row of %s, which is no feeder".formatted(name));
    }
    return feeder;
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
  public Template template(String text, Template.Place place) {
    return new Template(text, place, constants, variables);
  }

  /**
   * Where the values of a variable are kept.
   *
   * @throws SettingsException if there is none of that name
   */
  public int slot(String variable) {
    Integer slot = variables.get(variable);
    if (slot == null) {
      throw new SettingsException(
          "journey", "uses the variable %s, which nothing gives a value".formatted(variable));
    }
    return slot;
  }

  /** Names of the variables that visits have, in the order of their slots. */
  public List<String> names() {
    return List.copyOf(variables.keySet());
  }

  /** Is told of outcomes from now on. */
  public DeclaredJourneys counting(IntConsumer outcomes) {
    this.outcomes = outcomes;
    return this;
  }

  @Override
  public DeclaredJourney start(User user) {
    return new DeclaredJourney(this, user);
  }
}
