// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.daytrader;

/**
 * The frame of all journeys of a run.
 *
 * @param users sessions are of {@code uid:0} to this number, exclusive, in turn
 * @param quotes symbols are drawn from {@code s:0} to this number, exclusive
 * @param pagesSessions sessions of the Pages front end, for so many
 * @param facesSessions of the Faces front end
 * @param inTurn whether every operation comes once in each session, and front ends in turn: for a
 *     probe, which waits for all of them
 */
public record TradePlan(
    int users, int quotes, int pagesSessions, int facesSessions, boolean inTurn) {}
