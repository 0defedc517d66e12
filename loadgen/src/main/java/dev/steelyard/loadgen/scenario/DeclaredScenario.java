// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.declared.Action;
import dev.steelyard.loadgen.journey.declared.Block;
import dev.steelyard.loadgen.journey.declared.DeclaredJourneys;
import dev.steelyard.loadgen.journey.declared.JourneySpec;
import dev.steelyard.loadgen.journey.declared.Operation;
import dev.steelyard.loadgen.requests.DeclaredRequests;
import dev.steelyard.loadgen.requests.Step;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntConsumer;

/** The scenario of a declared journey. */
final class DeclaredScenario implements Scenario {
  private static final double PERCENT_TOLERANCE = 0.01;

  private final DeclaredJourneys journeys;
  private final List<Step> steps;
  private final Set<String> played = new TreeSet<>();
  private final boolean givesUp;

  DeclaredScenario(Settings settings) {
    JourneySpec spec = settings.journey();
    Map<String, String> constants = new LinkedHashMap<>();
    settings.parameters().forEach((name, value) -> constants.put(name, String.valueOf(value)));
    double[] weights = weights(spec, settings.mix());
    // A probe waits for every operation: those of rare visits must not come late.
    boolean inTurn = settings.model() == Model.PROBE || settings.model() == Model.TRY;
    DeclaredJourneys.Share share =
        new DeclaredJourneys.Share(settings.injector(), settings.injectors());
    journeys = new DeclaredJourneys(spec, constants, weights, inTurn, share);
    steps = DeclaredRequests.of(spec, journeys);
    givesUp = spec.visits().values().stream().anyMatch(visit -> Block.mayGiveUp(visit.steps()));
    int index = 0;
    for (JourneySpec.Visit visit : spec.visits().values()) {
      if (weights[index++] > 0) {
        addSure(visit.steps());
      }
    }
  }

  /** Operations that come whatever answers say; those drawn by chance come sooner or later. */
  private void addSure(List<Action> actions) {
    for (Action action : actions) {
      if (action instanceof JourneySpec.Step step) {
        Operation.of(step).map(Operation::name).forEach(played::add);
      } else if (action instanceof Block block && block.comesForSure()) {
        addSure(block.actions());
      }
    }
  }

  private static double[] weights(JourneySpec spec, Map<String, Double> mix) {
    if (mix == null) {
      return spec.visits().values().stream().mapToDouble(JourneySpec.Visit::weight).toArray();
    }
    Set<String> visits = spec.visits().keySet();
    double sum = mix.values().stream().mapToDouble(Double::doubleValue).sum();
    if (!visits.containsAll(mix.keySet())
        || mix.values().stream().anyMatch(percent -> percent < 0)
        || !(Math.abs(sum - 100) <= PERCENT_TOLERANCE)) {
      throw SettingsException.must(
          "mix",
          mix,
          "an object that gives a percentage to some of %s, with the sum 100"
              .formatted(String.join(", ", visits)));
    }
    return visits.stream().mapToDouble(visit -> mix.getOrDefault(visit, 0.0)).toArray();
  }

  @Override
  public List<Step> steps() {
    return steps;
  }

  @Override
  public Set<String> played() {
    return played;
  }

  @Override
  public Journeys journeys(IntConsumer outcomes) {
    return journeys.counting(outcomes);
  }

  /** Of a journey that may give up. */
  @Override
  public List<String> outcomes() {
    return givesUp ? List.of("given-up") : List.of();
  }
}
