// SPDX-License-Identifier: Apache-2.0
/**
 * What DayTrader7 is made of: the operations ({@link dev.steelyard.daytrader7.TradeServices}), the
 * settings ({@link dev.steelyard.daytrader7.TradeConfig}) and the facade that pages use ({@link
 * dev.steelyard.daytrader7.Trade}).
 */
package dev.steelyard.daytrader7;
