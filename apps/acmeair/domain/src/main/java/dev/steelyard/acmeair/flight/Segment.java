// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

/**
 * A connection between two airports.
 *
 * @param id such as {@code AA12}
 * @param from code of the airport
 * @param to the same
 * @param miles the distance, which is also the reward
 */
public record Segment(String id, String from, String to, int miles) {}
