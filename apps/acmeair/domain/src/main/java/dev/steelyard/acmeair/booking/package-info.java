// SPDX-License-Identifier: Apache-2.0
/** Bookings. */
package dev.steelyard.acmeair.booking;
