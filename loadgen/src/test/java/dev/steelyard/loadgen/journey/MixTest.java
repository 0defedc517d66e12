// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MixTest {
  @Test
  void drawsByPercentAndNeverWhatHasNone() {
    Mix mix = new Mix(10, 0, 65, 25);
    SplittableRandom random = new SplittableRandom(5);
    int[] counts = new int[4];
    int draws = 100_000;
    for (int i = 0; i < draws; i++) {
      counts[mix.draw(random)]++;
    }
    assertEquals(0, counts[1]);
    assertEquals(0.10, counts[0] / (double) draws, 0.01);
    assertEquals(0.65, counts[2] / (double) draws, 0.01);
    assertEquals(0.25, counts[3] / (double) draws, 0.01);
  }
}
