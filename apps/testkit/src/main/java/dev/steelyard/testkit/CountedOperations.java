// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.function.Executable;

/** Operations and the statements that each sends, compared once all of them were performed. */
public final class CountedOperations {

  private final StatementLog log;
  private final List<Executable> comparisons = new ArrayList<>();

  /**
   * None yet.
   *
   * @param log of the database that they are sent to
   */
  public CountedOperations(StatementLog log) {
    this.log = log;
  }

  /**
   * Performs an operation.
   *
   * @param statements that it is to send: {@link StatementLog.Counts#of}
   * @return what the work returns
   */
  public <T> T perform(String name, String statements, Callable<T> work) throws Exception {
    return perform(name, statements, null, work);
  }

  /**
   * Performs an operation.
   *
   * @param statements that it is to send: {@link StatementLog.Counts#of}
   * @param transactions in which it is to send them; null for any number
   * @return what the work returns
   */
  public <T> T perform(String name, String statements, Integer transactions, Callable<T> work)
      throws Exception {
    long end = log.end();
    T result = work.call();
    StatementLog.Counts counts = log.since(end);
    comparisons.add(
        () -> assertEquals(StatementLog.Counts.of(statements), counts.statements(), name));
    if (transactions != null) {
      comparisons.add(() -> assertEquals(transactions, counts.transactions(), name));
    }
    return result;
  }

  /** Fails with all differences. */
  public void compare() {
    assertAll(comparisons);
  }
}
