// SPDX-License-Identifier: Apache-2.0
/** The HTTP interface of the booking service, and its calls of the other services. */
package dev.steelyard.acmeair.services.booking;
