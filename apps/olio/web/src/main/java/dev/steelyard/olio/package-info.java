// SPDX-License-Identifier: Apache-2.0
/** Olio: settings, counts, and what all its parts throw. */
package dev.steelyard.olio;
