// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.SplittableRandom;

/** The journey without a memory: each operation is drawn from a mix. */
public final class MixJourney implements Journey {
  private final Mix mix;
  private final SplittableRandom random;

  /**
   * @param mix what operations are drawn from
   * @param random source of the draws
   */
  public MixJourney(Mix mix, SplittableRandom random) {
    this.mix = mix;
    this.random = random;
  }

  @Override
  public int next() {
    return mix.draw(random);
  }

  @Override
  public void ended(boolean failed) {
    // The next draw does not depend on it.
  }
}
