// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The scenarios that exist; a further one is a {@link Scenario} and an entry here. */
public final class Scenarios {
  private static final Map<String, Function<Settings, Scenario>> BUILT_IN = new LinkedHashMap<>();

  static {
    BUILT_IN.put("acmeair-monolith", AcmeairScenario::monolith);
    BUILT_IN.put("acmeair-microservices", AcmeairScenario::microservices);
    BUILT_IN.put("daytrader7", TradeScenario::new);
    BUILT_IN.put("olio", OlioScenario::new);
  }

  private Scenarios() {}

  /**
   * The scenario that settings ask for; the defaults of its parameters are put into them.
   *
   * @throws SettingsException if there is none of that name, or if its parameters are not right
   */
  public static Scenario of(Settings settings) {
    if (settings.journey() != null) {
      return new DeclaredScenario(settings);
    }
    Function<Settings, Scenario> named = BUILT_IN.get(settings.scenario());
    if (named == null) {
      throw SettingsException.must(
          "scenario", settings.scenario(), "one of " + String.join(", ", BUILT_IN.keySet()));
    }
    return named.apply(settings);
  }
}
