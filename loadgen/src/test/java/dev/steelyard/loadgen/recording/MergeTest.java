// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class MergeTest {
  private static Summary.Injector injector(String host, String cpus, int available) {
    return new Summary.Injector(1, 1, available, 0.5, 0, 0.1, host, cpus);
  }

  private static Settings settings(int injector, int users) {
    String json =
        """
        {"journey": {"visits": {"v": {"steps": [{"operation": "a", "path": "/"}]}}},
         "targets": ["http://127.0.0.1:9"], "model": "closed", "users": %d, "measureSeconds": 60,
         "injector": %d, "injectors": 3, "output": "/out/%d"}
        """;
    return SettingsReader.readVariable(
        "TEST", json.formatted(users, injector, injector), Instant.EPOCH);
  }

  private static void assertRefused(String reason, Settings... all) {
    IOException refusal = assertThrows(IOException.class, () -> Merge.checkWhole(List.of(all)));
    assertEquals(reason, refusal.getMessage());
  }

  @Test
  void eachInjectorOfOneRunIsThereOnce() throws Exception {
    Merge.checkWhole(List.of(settings(2, 9), settings(0, 9), settings(1, 9)));
    assertRefused("injector 1 is missing", settings(0, 9), settings(2, 9));
    assertRefused("injector 0 is there twice", settings(0, 9), settings(0, 9), settings(2, 9));
    assertRefused("injector 1 is of another run", settings(0, 9), settings(1, 8), settings(2, 9));
  }

  @Test
  void processorsThatInjectorsShareAreThereOnce() {
    assertEquals(2, Merge.processors(List.of(injector("a", "0-1", 2), injector("a", "0-1", 2))));
    assertEquals(4, Merge.processors(List.of(injector("a", "0-1", 2), injector("b", "0-1", 2))));
    assertEquals(5, Merge.processors(List.of(injector("a", "0,2-3", 3), injector("a", "4-5", 2))));
    // Containers of a machine with many processors, each limited to one.
    assertEquals(2, Merge.processors(List.of(injector("a", "0-63", 1), injector("a", "0-63", 1))));
    assertEquals(4, Merge.processors(List.of(injector("", "", 2), injector("", "", 2))));
  }
}
