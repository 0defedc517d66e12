// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.journey.Journey;

/**
 * A journey, and the server that all of its requests go to: sessions and cookies are that server's.
 *
 * @param journey decides the requests
 * @param target index of the server
 */
record Visitor(Journey journey, int target) {}
