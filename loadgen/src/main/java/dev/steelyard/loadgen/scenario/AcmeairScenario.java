// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.acmeair.AcmeairJourneys;
import dev.steelyard.loadgen.journey.acmeair.Plan;
import dev.steelyard.loadgen.requests.AcmeairRequests;
import dev.steelyard.loadgen.requests.Step;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/** The airline, in one of its topologies: same journeys, other routes. */
final class AcmeairScenario implements Scenario {
  /** Of the data sets, unless they are made for another day: their dates must not age. */
  private static final LocalDate TODAY = LocalDate.of(2026, 6, 15);

  private final String name;
  private final List<Step> steps;
  private final Plan plan;
  private final int injector;

  /** Its parameters; what they mean is told by {@link Plan}. */
  record Parameters(Integer customers, LocalDate today, Integer visitsPerLogin) {
    Parameters {
      customers = customers == null ? 200 : customers;
      SettingsException.within("customers", customers, 1, 10_000_000);
      today = today == null ? TODAY : today;
      if (visitsPerLogin != null) {
        SettingsException.within("visitsPerLogin", visitsPerLogin, 1, 1000);
      }
    }
  }

  private AcmeairScenario(Settings settings, List<Step> steps, int visits, boolean logsOut) {
    name = settings.scenario();
    injector = settings.injector();
    this.steps = steps;
    Parameters given =
        SettingsReader.bind(
            SettingsReader.JSON.valueToTree(settings.parameters()), Parameters.class, "parameters");
    int perLogin = given.visitsPerLogin() == null ? visits : given.visitsPerLogin();
    plan = new Plan(given.customers(), given.today(), perLogin, logsOut);
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
  public String name() {
    return name;
  }

  @Override
  public Map<String, Object> parameters() {
    Map<String, Object> resolved = new LinkedHashMap<>();
    resolved.put("customers", plan.customers());
    resolved.put("today", plan.today().toString());
    resolved.put("visitsPerLogin", plan.visitsPerLogin());
    return resolved;
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
        new Ratio("bookings made per list", "book-flight", "list-bookings"));
  }

  @Override
  public Journeys journeys(IntConsumer outcomes) {
    return new AcmeairJourneys(plan, injector, outcomes);
  }
}
