// SPDX-License-Identifier: Apache-2.0
/** The HTTP interface of the flight service. */
package dev.steelyard.acmeair.services.flight;
