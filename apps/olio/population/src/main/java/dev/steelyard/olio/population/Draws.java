// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.population;

/**
 * Random numbers that are the same on any machine: SplitMix64 (Steele, Lea and Flood, 2014). Not
 * for several threads.
 */
public final class Draws {

  private static final long GAMMA = 0x9E3779B97F4A7C15L;
  private static final double UNIT = 0x1.0p-53;

  private long state;

  public Draws(long seed) {
    state = seed;
  }

  /** Numbers for one row of one kind, whatever was drawn for other rows. */
  public static Draws of(long seed, int kind, int id) {
    return new Draws(mixed(mixed(seed + GAMMA * kind) + GAMMA * id));
  }

  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Any 64 bits. */
  public long bits() {
    state += GAMMA;
    return mixed(state);
  }

  /** A number from 0 to below the bound; its bias is less than 1 in 2^31. */
  public int below(int bound) {
    return (int) (((bits() >>> 32) * bound) >>> 32);
  }

  /** A number from the least to the most, both included. */
  public int between(int least, int most) {
    return least + below(most - least + 1);
  }

  /** A number from 0 to below 1. */
  public double fraction() {
    return (bits() >>> 11) * UNIT;
  }

  /** One case of two. */
  public boolean half() {
    return bits() < 0;
  }

  /**
   * Different numbers from 1 to the most.
   *
   * @param count of them; fewer than half of the most keep this quick
   * @param except a number that is not among them; 0 for none
   */
  public int[] distinct(int count, int most, int except) {
    int[] drawn = new int[count];
    for (int have = 0; have < count; ) {
      int next = between(1, most);
      boolean known = next == except;
      for (int i = 0; i < have && !known; i++) {
        known = drawn[i] == next;
      }
      if (!known) {
        drawn[have++] = next;
      }
    }
    return drawn;
  }
}
