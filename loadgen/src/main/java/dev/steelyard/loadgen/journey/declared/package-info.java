// SPDX-License-Identifier: Apache-2.0
/**
 * Journeys that are declared in a file and not written in Java: a user draws a visit by weight,
 * plays its steps, and begins again. {@link dev.steelyard.loadgen.journey.declared.JourneySpec} is
 * the declaration, {@link dev.steelyard.loadgen.journey.declared.DeclaredJourney} plays it.
 */
package dev.steelyard.loadgen.journey.declared;
