// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The visitors of the open model: an arrival is the next request of one that has no request in
 * flight. Thread-safe.
 *
 * <p>Arrivals go round the servers, whatever these answer and when. At each server the visitor is
 * drawn: taken in turns, all visitors would log in together, search together and leave together,
 * and the mix would swing. New ones come only while there are fewer than {@link #FEWEST} in all, or
 * when none is free, so that visits end in a time that sessions outlive.
 */
final class VisitorPool {
  /**
   * Enough to mix: with fewer, neighbouring requests of one visitor are neighbours in what visitors
   * share, too.
   */
  static final int FEWEST = 32;

  private final IntFunction<Visitor> newVisitor;
  private final SplittableRandom random;
  private final List<List<Visitor>> free;
  private final int[] started;
  private final int fewest;
  private int nextTarget;

  /**
   * @param targets number of servers
   * @param first index of the server of the first arrival
   * @param random source of the choices
   * @param newVisitor makes a visitor of a server
   */
  VisitorPool(int targets, int first, SplittableRandom random, IntFunction<Visitor> newVisitor) {
    this.newVisitor = newVisitor;
    this.random = random;
    nextTarget = first;
    started = new int[targets];
    fewest = (FEWEST + targets - 1) / targets;
    free = IntStream.range(0, targets).<List<Visitor>>mapToObj(i -> new ArrayList<>()).toList();
  }

  /** The visitor whose next request the next arrival is. */
  synchronized Visitor take() {
    int target = nextTarget;
    nextTarget = (nextTarget + 1) % started.length;
    List<Visitor> candidates = free.get(target);
    if (candidates.isEmpty() || started[target] < fewest) {
      started[target]++;
      return newVisitor.apply(target);
    }
    int chosen = random.nextInt(candidates.size());
    Visitor last = candidates.remove(candidates.size() - 1);
    return chosen == candidates.size() ? last : candidates.set(chosen, last);
  }

  /** Takes back a visitor whose request has ended. */
  synchronized void giveBack(Visitor visitor) {
    free.get(visitor.target()).add(visitor);
  }
}
