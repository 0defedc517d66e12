// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import java.util.concurrent.TimeUnit;

/** How long a load takes. */
public final class LoadTime {

  private static final double MILLIS_PER_SECOND = 1_000;

  private LoadTime() {}

  /** Loads, and tells the seconds that it took: a text such as {@code 1.234}. */
  public static String of(Runnable load) {
    long start = System.nanoTime();
    load.run();
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    return Double.toString(millis / MILLIS_PER_SECOND);
  }
}
