// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.Mix;
import dev.steelyard.loadgen.journey.MixJourney;
import dev.steelyard.loadgen.requests.Operation;
import dev.steelyard.loadgen.requests.PingRequests;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/** The smallest workload: one operation, again and again. */
final class PingWorkload implements Workload {
  @Override
  public String name() {
    return "ping";
  }

  @Override
  public List<Operation> operations() {
    return List.of(PingRequests.PING);
  }

  @Override
  public List<String> outcomes() {
    return List.of();
  }

  @Override
  public List<Ratio> ratios() {
    return List.of();
  }

  @Override
  public OptionalInt visitsPerLogin() {
    return OptionalInt.empty();
  }

  @Override
  public Map<String, Double> mix(int visitsPerLogin) {
    return Map.of("ping", 100.0);
  }

  @Override
  public Journeys journeys(Settings settings, IntConsumer outcomes) {
    Mix mix = new Mix(operationNames(), settings.mix());
    return random -> new MixJourney(mix, random);
  }
}
