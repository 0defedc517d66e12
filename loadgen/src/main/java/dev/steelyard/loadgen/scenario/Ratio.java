// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

/**
 * A figure of the summary that tells whether a run did the work it was meant to do.
 *
 * @param text what it is, for people
 * @param count an outcome, or an operation (its successes)
 * @param per an operation (its successes)
 */
public record Ratio(String text, String count, String per) {}
