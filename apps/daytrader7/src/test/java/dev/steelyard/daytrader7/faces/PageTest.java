// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.steelyard.daytrader7.TradeException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** What failed below an action leaves it: the page would count as right. */
final class PageTest {

  @Test
  void aFailureOfTheDatabaseIsNotSaidOnThePage() {
    TradeException dead = new TradeException("no", new SQLException("no"));
    Throwable thrown =
        assertThrows(
            TradeException.class,
            () ->
                Page.attempt(
                    "",
                    () -> {
                      throw dead;
                    }));
    assertSame(dead, thrown);
  }
}
