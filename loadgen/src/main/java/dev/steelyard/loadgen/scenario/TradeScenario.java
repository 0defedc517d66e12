// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import static dev.steelyard.loadgen.SettingsException.within;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.daytrader.TradeJourneys;
import dev.steelyard.loadgen.journey.daytrader.TradePlan;
import dev.steelyard.loadgen.journey.daytrader.TradeStep;
import dev.steelyard.loadgen.requests.Step;
import dev.steelyard.loadgen.requests.TradeRequests;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

/** DayTrader, as its public JMeter plan loads it. */
final class TradeScenario implements Scenario {
  private final Parameters parameters;
  private final Settings settings;

  /**
   * Its parameters.
   *
   * @param socketSeconds how long a user keeps its WebSocket
   */
  record Parameters(
      Integer users,
      Integer quotes,
      Integer pagesSessions,
      Integer facesSessions,
      Integer socketSeconds) {
    Parameters {
      within("users", users, 1, 10_000_000);
      within("quotes", quotes, 1, 10_000_000);
      within("pagesSessions", pagesSessions, 0, 1000);
      within("facesSessions", facesSessions, pagesSessions > 0 ? 0 : 1, 1000);
      within("socketSeconds", socketSeconds, 1, 3600);
    }
  }

  /**
   * @throws SettingsException if its parameters are not right
   */
  TradeScenario(Settings settings) {
    this.settings = settings;
    Map<String, Object> given = settings.parameters();
    given.putIfAbsent("users", 15_000);
    given.putIfAbsent("quotes", 10_000);
    given.putIfAbsent("pagesSessions", 90);
    given.putIfAbsent("facesSessions", 10);
    given.putIfAbsent("socketSeconds", 5);
    parameters =
        SettingsReader.bind(SettingsReader.JSON.valueToTree(given), Parameters.class, "parameters");
  }

  @Override
  public List<Step> steps() {
    return TradeRequests.steps(Duration.ofSeconds(parameters.socketSeconds()));
  }

  @Override
  public List<String> operations() {
    return TradeStep.ALL.stream().map(TradeStep::operation).toList();
  }

  @Override
  public Set<String> played() {
    return TradeStep.ALL.stream()
        .map(TradeStep::operation)
        .filter(
            each ->
                (each.startsWith("faces-")
                        ? parameters.facesSessions()
                        : parameters.pagesSessions())
                    > 0)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Override
  public List<String> outcomes() {
    return TradeJourneys.OUTCOMES;
  }

  @Override
  public List<Ratio> ratios() {
    return List.of(
        new Ratio("sales per purchase", "sell", "buy"),
        new Ratio("sales of what was gone per sale", "sale-cancelled", "sell"));
  }

  @Override
  public Journeys journeys(IntConsumer outcomes) {
    TradePlan plan =
        new TradePlan(
            parameters.users(),
            parameters.quotes(),
            parameters.pagesSessions(),
            parameters.facesSessions(),
            settings.model() == Model.PROBE);
    String run = Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
    return new TradeJourneys(plan, settings.injector(), settings.injectors(), run, outcomes);
  }
}
