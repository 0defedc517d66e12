// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.acmeair.AcmeairJourneys;
import dev.steelyard.loadgen.journey.acmeair.Plan;
import dev.steelyard.loadgen.requests.AcmeairRequests;
import dev.steelyard.loadgen.requests.Step;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/** The airline, in one of its topologies: same journeys, other routes. */
final class AcmeairScenario implements Scenario {
  private final List<Step> steps;
  private final Plan plan;
  private final int injector;

  /** Its parameters; what they mean is told by {@link Plan}. */
  record Parameters(Integer customers, String today, Integer visitsPerLogin) {
    Parameters {
      within("customers", customers, 1, 10_000_000);
      within("visitsPerLogin", visitsPerLogin, 1, 1000);
    }

    Plan plan(boolean logsOut) {
      try {
        // The servers' own clock is in UTC unless their ACMEAIR_ZONE says otherwise.
        LocalDate day =
            "system".equals(today) ? LocalDate.now(ZoneOffset.UTC) : LocalDate.parse(today);
        return new Plan(customers, day, visitsPerLogin, logsOut);
      } catch (DateTimeParseException e) {
        throw must("parameters.today", today, "a date such as \"2026-06-15\", or \"system\"");
      }
    }
  }

  private AcmeairScenario(Settings settings, List<Step> steps, int visits, boolean logsOut) {
    injector = settings.injector();
    this.steps = steps;
    Map<String, Object> parameters = settings.parameters();
    parameters.putIfAbsent("customers", 200);
    // Of the data sets, unless they are made for another day: their dates must not age.
    parameters.putIfAbsent("today", "2026-06-15");
    parameters.putIfAbsent("visitsPerLogin", visits);
    JsonNode given = SettingsReader.JSON.valueToTree(parameters);
    plan = SettingsReader.bind(given, Parameters.class, "parameters").plan(logsOut);
  }

  /** As the JMeter plan AcmeAir-v5: one visit per login, then a logout. */
  static Scenario monolith(Settings settings) {
    return new AcmeairScenario(settings, AcmeairRequests.monolith(), 1, true);
  }

  /** As the plan AcmeAir-microservices-mpJwt: five visits per login, and no logout. */
  static Scenario microservices(Settings settings) {
    return new AcmeairScenario(settings, AcmeairRequests.microservices(), 5, false);
  }

  @Override
  public List<Step> steps() {
    return steps;
  }

  @Override
  public List<String> outcomes() {
    return AcmeairJourneys.OUTCOMES;
  }

  @Override
  public List<Ratio> ratios() {
    return List.of(
        new Ratio("outbound flight found per query", "outbound-found", "query-flight"),
        new Ratio("return flight found per query", "return-found", "query-flight"),
        new Ratio("overtaken updates per update", "update-overtaken", "update-customer"),
        new Ratio("bookings made per list", "book-flight", "list-bookings"));
  }

  @Override
  public Journeys journeys(IntConsumer outcomes) {
    return new AcmeairJourneys(plan, injector, outcomes);
  }
}
