// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

/**
 * The form of a search.
 *
 * @param from code of the airport of departure
 * @param to code of the airport of arrival
 * @param fromDate day of the flight there, as {@code Mon Jun 15 00:00:00 UTC 2026}
 * @param returnDate day of the flight back, likewise
 */
public record FlightSearch(String from, String to, String fromDate, String returnDate) {}
