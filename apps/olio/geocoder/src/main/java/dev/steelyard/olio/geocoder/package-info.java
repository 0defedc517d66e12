// SPDX-License-Identifier: Apache-2.0
/** The map service that Olio asks where an address is: always at the same place. */
package dev.steelyard.olio.geocoder;
