// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.SplittableRandom;

/** Draws an index by weights. */
public final class Mix {
  private final double[] upperBounds;

  /**
   * @param weights of the indexes from 0; one without a weight is never drawn, and one must have it
   */
  public Mix(double... weights) {
    upperBounds = new double[weights.length];
    double sum = 0;
    for (int i = 0; i < weights.length; i++) {
      sum += weights[i];
      upperBounds[i] = sum;
    }
  }

  /** An index. */
  public int draw(SplittableRandom random) {
    int last = upperBounds.length - 1;
    if (last == 0) {
      return 0;
    }
    double point = random.nextDouble() * upperBounds[last];
    int index = 0;
    while (point >= upperBounds[index]) {
      index++;
    }
    return index;
  }
}
