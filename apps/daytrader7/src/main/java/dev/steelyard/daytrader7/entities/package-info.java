// SPDX-License-Identifier: Apache-2.0
/**
 * The five tables of the application as Persistence sees them. Both run-time modes answer with
 * these classes; in direct mode they are filled from rows and no relation is set.
 */
package dev.steelyard.daytrader7.entities;
