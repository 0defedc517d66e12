// SPDX-License-Identifier: Apache-2.0
/** The tables, the data set and its load, by plain statements; and what must hold in them. */
package dev.steelyard.olio.data;
