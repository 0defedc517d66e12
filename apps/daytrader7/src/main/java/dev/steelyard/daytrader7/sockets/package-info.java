// SPDX-License-Identifier: Apache-2.0
/**
 * The websockets: the market summary with its feed of recent changes, and the primitives. Whatever
 * they send goes through an {@link dev.steelyard.daytrader7.sockets.Outbox}.
 */
package dev.steelyard.daytrader7.sockets;
