// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Draws operations by their percentages. */
public final class Mix {
  private final double[] upperBounds;

  /**
   * @param operations names of all operations, in the order of the indexes that {@link #draw} gives
   * @param percent operation to percent; an operation without an entry is never drawn
   */
  public Mix(List<String> operations, Map<String, Double> percent) {
    upperBounds = new double[operations.size()];
    double sum = 0;
    for (int i = 0; i < upperBounds.length; i++) {
      sum += percent.getOrDefault(operations.get(i), 0.0);
      upperBounds[i] = sum;
    }
  }

  /** The index of an operation. */
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
