// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The users of the open model: an arrival is the next request of one that has no request in flight.
 * Thread-safe.
 *
 * <p>Arrivals go round the servers, whatever these answer and when. At each server the user is
 * drawn: taken in turns, all users would log in together, search together and leave together, and
 * the mix would swing. New ones come only while there are fewer than {@link #FEWEST} in all, or
 * when none is free, so that visits end in a time that sessions outlive.
 */
final class UserPool {
  /**
   * Enough to mix: with fewer, neighbouring requests of one user are neighbours in what users
   * share, too.
   */
  static final int FEWEST = 32;

  private final IntFunction<ActiveUser> newUser;
  private final SplittableRandom random;
  private final List<List<ActiveUser>> free;
  private final int[] started;
  private final int fewest;
  private int nextTarget;

  /**
   * @param targets number of servers
   * @param first index of the server of the first arrival
   * @param random source of the choices
   * @param newUser makes a user of a server
   */
  UserPool(int targets, int first, SplittableRandom random, IntFunction<ActiveUser> newUser) {
    this.newUser = newUser;
    this.random = random;
    nextTarget = first;
    started = new int[targets];
    fewest = (FEWEST + targets - 1) / targets;
    free = IntStream.range(0, targets).<List<ActiveUser>>mapToObj(i -> new ArrayList<>()).toList();
  }

  /** The user whose next request the next arrival is. */
  synchronized ActiveUser take() {
    int target = nextTarget;
    nextTarget = (nextTarget + 1) % started.length;
    List<ActiveUser> candidates = free.get(target);
    if (candidates.isEmpty() || started[target] < fewest) {
      started[target]++;
      return newUser.apply(target);
    }
    int chosen = random.nextInt(candidates.size());
    ActiveUser last = candidates.remove(candidates.size() - 1);
    return chosen == candidates.size() ? last : candidates.set(chosen, last);
  }

  /** Takes back a user whose request has ended. */
  synchronized void giveBack(ActiveUser activeUser) {
    free.get(activeUser.target()).add(activeUser);
  }
}
