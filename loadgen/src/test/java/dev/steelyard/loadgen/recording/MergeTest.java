// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class MergeTest {
  private static Summary.Injector injector(String host, String cpus, int available) {
    return new Summary.Injector(1, 1, available, 0.5, 0, 0.1, host, cpus);
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
