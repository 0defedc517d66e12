// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FailureLogTest {

  private final List<String> lines = new ArrayList<>();
  private final FailureLog log = new FailureLog("It failed", lines::add);

  @Test
  void aCauseIsToldOnceAndThenByPowersOfTen() {
    for (int i = 0; i < 1000; i++) {
      log.tell(new IOException("attempt " + i));
    }

    assertEquals(4, lines.size(), lines::toString);
    assertEquals("It failed (1 so far): java.io.IOException: attempt 0", lines.get(0));
    assertEquals("It failed (1000 so far): java.io.IOException: attempt 999", lines.get(3));
  }

  @Test
  void anotherCauseIsToldAtOnceWithAllThatLedToItInOneLine() {
    log.tell(new IOException("one"));
    log.tell(new UncheckedIOException("two\nlines", new IOException("one")));

    assertEquals(2, lines.size());
    assertTrue(
        lines.get(1).endsWith("UncheckedIOException: two lines, since java.io.IOException: one"),
        lines.get(1));
  }
}
