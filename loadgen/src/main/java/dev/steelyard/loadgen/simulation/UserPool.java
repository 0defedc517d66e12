// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The users of the open model: an arrival is the next request of one that has no request in flight.
 * Thread-safe.
 *
 * <p>Arrivals go round the servers, whatever these answer and when. At each server the user is
 * drawn: taken in turns, all users would log in together, search together and leave together, and
 * the mix would swing. New ones come only while there are fewer than {@link #FEWEST} in all, or
 * when none is free, so that visits end in a time that sessions outlive.
 *
 * <p>It is drawn from those who were busy last: a server that stands still for a moment has each
 * arrival start a user, and if all of these went on, the mix would swing for minutes. The others
 * wait until as many are needed again, or a minute is over.
 */
final class UserPool {
  /**
   * Enough to mix: with fewer, neighbouring requests of one user are neighbours in what users
   * share, too.
   */
  static final int FEWEST = 32;

  /** A user who was left alone for so long is next: servers end sessions and sockets in time. */
  static final long LONGEST_IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final IntFunction<ActiveUser> newUser;
  private final SplittableRandom random;
  private final LongSupplier clock;
  private final List<List<Free>> free;
  private final int[] started;
  private final int fewest;
  private int nextTarget;

  /** A user who has waited for an arrival since then. */
  private record Free(ActiveUser activeUser, long sinceNanos) {}

  /**
   * @param targets number of servers
   * @param first index of the server of the first arrival
   * @param random source of the choices
   * @param clock in nanoseconds
   * @param newUser makes a user of a server
   */
  UserPool(
      int targets,
      int first,
      SplittableRandom random,
      LongSupplier clock,
      IntFunction<ActiveUser> newUser) {
    this.newUser = newUser;
    this.random = random;
    this.clock = clock;
    nextTarget = first;
    started = new int[targets];
    fewest = (FEWEST + targets - 1) / targets;
    free = IntStream.range(0, targets).<List<Free>>mapToObj(i -> new ArrayList<>()).toList();
  }

  /** The user whose next request the next arrival is. */
  synchronized ActiveUser take() {
    int target = nextTarget;
    nextTarget = (nextTarget + 1) % started.length;
    List<Free> longestFirst = free.get(target);
    if (longestFirst.isEmpty() || started[target] < fewest) {
      started[target]++;
      return newUser.apply(target);
    }
    int others = Math.max(0, longestFirst.size() - fewest);
    boolean overdue =
        others > 0 && clock.getAsLong() - longestFirst.get(0).sinceNanos > LONGEST_IDLE_NANOS;
    int chosen = overdue ? 0 : others + random.nextInt(longestFirst.size() - others);
    return longestFirst.remove(chosen).activeUser;
  }

  /** Takes back a user whose request has ended. */
  synchronized void giveBack(ActiveUser activeUser) {
    free.get(activeUser.target()).add(new Free(activeUser, clock.getAsLong()));
  }
}
