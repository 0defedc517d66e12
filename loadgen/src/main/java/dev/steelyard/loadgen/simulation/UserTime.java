// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

/** The users of a closed model who are in their loop, and the time that they have spent in it. */
final class UserTime {
  private int users;
  private long nanos;
  private long countedUntil;

  /** Counts so many more users from now on, fewer if it is negative. */
  synchronized void change(int change, long now) {
    nanos(now);
    users += change;
  }

  /** How many there are. */
  synchronized int users() {
    return users;
  }

  /** User-nanoseconds until now, of all together. */
  synchronized long nanos(long now) {
    nanos += users * (now - countedUntil);
    countedUntil = now;
    return nanos;
  }
}
