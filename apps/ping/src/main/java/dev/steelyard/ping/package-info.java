// SPDX-License-Identifier: Apache-2.0
/** The least that a REST application can do: one operation with a fixed answer and no data. */
package dev.steelyard.ping;
