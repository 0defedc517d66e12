// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Gatling passes over a key that it does not know. */
class GatlingKeysTest {
  private static Set<String> keys(String resource) {
    Config config = ConfigFactory.parseResources(resource);
    Set<String> keys = new HashSet<>();
    config.entrySet().forEach(entry -> keys.add(entry.getKey()));
    assertFalse(keys.isEmpty(), resource);
    return keys;
  }

  @Test
  void everyKeyThatIsSetIsOneOfGatlings() {
    Set<String> known = keys("gatling-defaults.conf");
    Set<String> set = keys("gatling.conf");
    String settings = Injector.settings(Path.of("/out"), List.of("https://127.0.0.1:9")).toString();
    Map<String, String> configuration =
        Main.configuration(SettingsReader.readVariable("TEST", settings, Instant.EPOCH));
    configuration.keySet().stream().filter(key -> key.startsWith("gatling.")).forEach(set::add);
    assertEquals("600000", configuration.get("gatling.socket.connectTimeout"));
    set.removeAll(known);
    assertEquals(Set.of(), set);
  }
}
