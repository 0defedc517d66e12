// SPDX-License-Identifier: Apache-2.0
/** What must hold of the data whatever was done to it. */
package dev.steelyard.daytrader7.consistency;
