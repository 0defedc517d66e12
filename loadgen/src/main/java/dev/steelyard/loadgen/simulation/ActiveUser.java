// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.User;

/**
 * A user at work, and the server that all of its requests go to: sessions and cookies are that
 * server's.
 *
 * @param user who it is
 * @param journey decides the steps
 * @param target index of the server
 */
record ActiveUser(User user, Journey journey, int target) {}
