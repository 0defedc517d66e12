// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import java.io.Serializable;

/** What was counted, just before the reset, in the tables. */
public record RunStatistics(
    int tradeUsers,
    int tradeStocks,
    int newUsers,
    int logins,
    int logouts,
    int holdings,
    int orders,
    int buyOrders,
    int sellOrders,
    int cancelledOrders,
    int openOrders,
    int deletedOrders)
    implements Serializable {}
