// SPDX-License-Identifier: Apache-2.0
/** Flights, segments and airports. */
package dev.steelyard.acmeair.flight;
