// SPDX-License-Identifier: Apache-2.0
/**
 * The ping primitives: each exercises one part of the server and little else. Those of one kind are
 * one servlet; the last part of the path says which of them is asked for.
 */
package dev.steelyard.daytrader7.primitives;
