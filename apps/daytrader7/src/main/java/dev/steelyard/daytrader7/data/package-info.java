// SPDX-License-Identifier: Apache-2.0
/** The tables and the data set. */
package dev.steelyard.daytrader7.data;
