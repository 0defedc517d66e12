// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

/** Which tags an event has: low numbers often, high ones hardly ever. */
public final class Popularity {

  private static final double MEAN_SHARE = 0.1;

  private Popularity() {}

  /**
   * A tag by its popularity: its rank is of a negative exponential distribution with a tenth of all
   * tags as mean.
   *
   * @param tags how many there are
   * @return from 1 to that number
   */
  public static int tag(Draws draws, int tags) {
    int rank;
    do {
      rank = 1 + (int) (-StrictMath.log(1 - draws.fraction()) * MEAN_SHARE * tags);
    } while (rank > tags);
    return rank;
  }
}
