// SPDX-License-Identifier: Apache-2.0
/**
 * What people do with the calendar, each operation in the transactions and with the statements that
 * it is to have; it knows nothing of HTTP and pages.
 */
package dev.steelyard.olio.calendar;
