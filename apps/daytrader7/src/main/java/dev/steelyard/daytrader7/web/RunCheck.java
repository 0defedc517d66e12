// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.RunStatistics;
import dev.steelyard.daytrader7.TradeConfig;
import java.util.List;

/**
 * What a reset has found, beside what the scenario's mix would have left behind.
 *
 * @param run what was found
 * @param requests of the scenario since the last reset
 */
public record RunCheck(RunStatistics run, long requests) {

  private static final double BAND = 0.05;

  /**
   * A line of the table.
   *
   * @param expected empty where nothing is
   * @param verdict {@code Pass}, {@code Fail}, or empty
   */
  public record Row(String name, String actual, String expected, String verdict, String about) {}

  /** The table, in the order in which it is shown. */
  public List<Row> rows(TradeConfig settings) {
    long registered = percent(2);
    long loggedIn = percent(6);
    long sold = percent(4);
    long bought = run.holdings() + sold;
    return List.of(
        told(
            "Run-Time Mode",
            settings.runMode().shown(),
            "What carried out the operations: session beans with Persistence, or JDBC. The statements"
                + " of each stand in the documentation."),
        told(
            "Order-Processing Mode",
            settings.orderMode().shown(),
            "When an order was completed: at once, by a message, or by a thread. Two of the three"
                + " leave open orders behind when a server is ended under load."),
        told(
            "Web Interface",
            settings.webInterface().shown(),
            "Which pages were shown. Both have the same words and the same work behind them; one has"
                + " pictures to navigate by."),
        judged(
            "Trade users",
            run.tradeUsers(),
            settings.maxUsers(),
            "Users of the population, those that registered later left out. Others than expected: the"
                + " number was changed, and the database was not built again."),
        judged(
            "Trade stocks",
            run.tradeStocks(),
            settings.maxQuotes(),
            "Stocks of the population. Others than expected: the number was changed, and the database"
                + " was not built again."),
        told(
            "Scenario requests since the last reset",
            requests,
            "What the figures below are compared with: requests for /scenario that this server has"
                + " answered. Other drivers, and other servers of the same database, are not in it."),
        judged(
            "New users registered",
            run.newUsers(),
            registered,
            "Two of a hundred requests of the scenario register somebody. The reset has removed them"
                + " with their accounts, profiles, holdings and orders."),
        judged(
            "Logins",
            run.logins(),
            loggedIn,
            "As many as there were log-outs and registrations, since users log in again: six of a"
                + " hundred requests. The counts in the accounts begin at zero again."),
        judged(
            "Logouts",
            run.logouts(),
            loggedIn,
            "Four of a hundred requests log out, and two register, which begins with a log-out. The"
                + " counts in the accounts begin at zero again."),
        told(
            "User holdings",
            run.holdings(),
            "Holdings of the users of the population after the reset, which leaves them, the balances"
                + " and the prices as they were."),
        judged(
            "Buy orders",
            run.buyOrders(),
            bought,
            "One for each holding that is still there, and one for each that was sold: four of a"
                + " hundred requests buy. Orders that were shown and removed are missing."),
        judged(
            "Sell orders",
            run.sellOrders(),
            sold,
            "Four of a hundred requests sell, or buy where there is nothing to sell; a later purchase"
                + " then becomes a sale. Orders that were shown and removed are missing."),
        judged(
            "Total orders",
            run.orders(),
            bought + sold,
            "Both together, as they were before the reset removed what it removes: those of new"
                + " users, the cancelled ones, and those of holdings that were sold."),
        judged(
            "Open orders",
            run.openOrders(),
            0,
            "Made and not completed. A moment after the load there are none, unless a server was"
                + " killed while its threads had orders in hand."),
        judged(
            "Cancelled orders",
            run.cancelledOrders(),
            0,
            "Sales of a holding that was gone: two sessions of one user, or a page that was old. The"
                + " reset has removed them."),
        told(
            "Orders of sold holdings, removed",
            run.deletedOrders(),
            "Orders without a holding, which the reset removes so that the table does not grow from"
                + " one run to the next."));
  }

  private long percent(int percent) {
    return requests * percent / 100;
  }

  private static Row told(String name, Object actual, String about) {
    return new Row(name, actual.toString(), "", "", about);
  }

  private static Row judged(String name, long actual, long expected, String about) {
    boolean near = Math.abs(actual - expected) <= BAND * expected;
    return new Row(
        name, Long.toString(actual), Long.toString(expected), near ? "Pass" : "Fail", about);
  }
}
