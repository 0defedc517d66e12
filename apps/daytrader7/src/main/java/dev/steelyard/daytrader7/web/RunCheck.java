// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.daytrader7.RunStatistics;

/**
 * What the scenario's mix would have left behind, beside what was found.
 *
 * @param run what was found
 * @param requests of the scenario since the last reset
 */
public record RunCheck(RunStatistics run, long requests) {

  private static final double BAND = 0.05;

  /** How many of them registered. */
  public long registrations() {
    return percent(2);
  }

  /** How many logged in: after each logout, and after each registration's. */
  public long logins() {
    return percent(6);
  }

  /** How many logged out. */
  public long logouts() {
    return percent(6);
  }

  /** How many bought. */
  public long buys() {
    return run.holdings() + percent(4);
  }

  /** How many sold. */
  public long sells() {
    return percent(4);
  }

  /** How many did either. */
  public long orders() {
    return buys() + sells();
  }

  private long percent(int percent) {
    return requests * percent / 100;
  }

  /** {@code Pass} or {@code Fail}. */
  public static String verdict(long actual, long expected) {
    return Math.abs(actual - expected) <= BAND * expected ? "Pass" : "Fail";
  }
}
