// SPDX-License-Identifier: Apache-2.0
/**
 * What a user of DayTrader does, as its public JMeter plan has it: sessions of the Pages and of the
 * Faces front end, their operations by weight, and what the answers must show.
 */
package dev.steelyard.loadgen.journey.daytrader;
