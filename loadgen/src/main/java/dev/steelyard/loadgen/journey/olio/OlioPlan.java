// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

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
public record OlioPlan(int scale, int users, LocalDate today, long firstNew, boolean inTurn) {}
