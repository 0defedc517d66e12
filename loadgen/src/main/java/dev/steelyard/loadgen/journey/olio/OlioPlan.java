// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.olio.population.Scale;
import java.time.LocalDate;

/**
 * Frame of the journeys.
 *
 * @param scale users that the data was loaded for
 * @param users users of the run: persons and tags are drawn from those that so many would have
 * @param today day from which new events are dated, the one for which the data was loaded
 * @param firstNew number of the first new person, less one; another run against the same data needs
 *     another
 * @param inTurn whether operations come in turn: for a probe, which waits for all of them
 */
public record OlioPlan(int scale, int users, LocalDate today, long firstNew, boolean inTurn) {
  /** New persons that each second has numbers for: far more than servers register. */
  private static final int A_SECOND = 20;

  /** Numbers end below what the names of persons and an int can be made of. */
  private static final long NUMBERS = 2_000_000_000;

  /**
   * The number of the first new person, less one, for an injector that starts in that second.
   *
   * <p>Of runs that start at different times against the same data, each has other numbers. A
   * second has a whole multiple of the injectors of them, so that the first one leaves the same
   * remainder in whichever second an injector of the run starts: injectors, which tell their
   * persons apart by that remainder, need not start in the same.
   *
   * @param injectors of the run
   * @param second since 1970
   */
  public static long firstNew(int scale, int injectors, long second) {
    long step = (long) injectors * ((A_SECOND + injectors - 1) / injectors);
    return 100L * scale + step * (second % (NUMBERS / step));
  }

  /** Users that persons and tags are loaded for, and drawn of: no fewer than 25. */
  Scale drawn() {
    return new Scale(users);
  }
}
