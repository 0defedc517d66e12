// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.SplittableRandom;

/**
 * One user: what it is and keeps, whatever its journey is. Used by one thread at a time.
 *
 * <p>What it draws comes from the seed of the run and its index: the same user draws the same on
 * any injector, and two users of a run never do.
 */
public final class User {
  private final long index;
  private final SplittableRandom random;
  private final Cookies cookies = new Cookies();
  private final Validators validators = new Validators();

  /**
   * @param seed of the run
   * @param index of the user over all injectors of the run
   */
  public User(long seed, long index) {
    this.index = index;
    random = draws(seed, index);
  }

  /**
   * A sequence of draws that has nothing in common with that of another number.
   *
   * @param seed of the run
   * @param number of the sequence: of a user, or negative for what is no user's
   */
  public static SplittableRandom draws(long seed, long number) {
    // Seeds of this generator that are one of its steps apart give the same sequence, shifted:
    // hence the mixing of both.
    return new SplittableRandom(mixed(mixed(seed) + number));
  }

  /** The finalizer of SplitMix64 (Steele, Lea and Flood, 2014). */
  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Index over all injectors of the run. */
  public long index() {
    return index;
  }

  /** Its own source of choices. */
  public SplittableRandom random() {
    return random;
  }

  /** Its cookies. */
  public Cookies cookies() {
    return cookies;
  }

  /** What it knows of what it fetched before. */
  public Validators validators() {
    return validators;
  }
}
