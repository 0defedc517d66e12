// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.acmeair.AcmeairJourneys;
import dev.steelyard.loadgen.journey.acmeair.Plan;
import dev.steelyard.loadgen.requests.AcmeairRequests;
import dev.steelyard.loadgen.requests.Operation;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/** The airline, in one of its topologies: same journeys, other routes. */
final class AcmeairWorkload implements Workload {
  private final String name;
  private final List<Operation> operations;
  private final int visitsPerLogin;
  private final boolean logsOut;

  private AcmeairWorkload(
      String name, List<Operation> operations, int visitsPerLogin, boolean logsOut) {
    this.name = name;
    this.operations = operations;
    this.visitsPerLogin = visitsPerLogin;
    this.logsOut = logsOut;
  }

  /** As the JMeter plan AcmeAir-v5: one visit per login, then a logout. */
  static Workload monolith() {
    return new AcmeairWorkload("acmeair-monolith", AcmeairRequests.monolith(), 1, true);
  }

  /** As the plan AcmeAir-microservices-mpJwt: five visits per login, and no logout. */
  static Workload microservices() {
    return new AcmeairWorkload("acmeair-microservices", AcmeairRequests.microservices(), 5, false);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<Operation> operations() {
    return operations;
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
  public OptionalInt visitsPerLogin() {
    return OptionalInt.of(visitsPerLogin);
  }

  @Override
  public Map<String, Double> mix(int visits) {
    return Plan.stationaryMix(visits, logsOut);
  }

  @Override
  public Journeys journeys(Settings settings, IntConsumer outcomes) {
    Plan plan =
        new Plan(settings.customers(), settings.today(), settings.visitsPerLogin(), logsOut);
    return new AcmeairJourneys(plan, outcomes);
  }
}
