// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.flight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.acmeair.InvalidInputException;
import java.time.LocalDate;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FlightDatesTest {

  @ParameterizedTest
  @CsvSource({
    "Tue Nov 24 00:00:00 UTC 2026, 2026-11-24",
    "Fri Jan 01 00:00:00 UTC 2027, 2027-01-01",
    "Thu Dec 31 00:00:00 CEST 2026, 2026-12-31",
    "Thu Dec 31 00:00:00 AEDT 2026, 2026-12-31",
    "Thu Dec 31 00:00:00 GMT+02:00 2026, 2026-12-31",
    "Thu Dec 31 00:00:00 2026, 2026-12-31",
    "Thu Dec 31 2026, 2026-12-31",
    "Thu Dec 31 2026 00:00:00 GMT+0100 (Central European Standard Time), 2026-12-31",
    "Thu Dec 31 00:00:00 2026 (UTC), 2026-12-31",
    "'Thu, 31 Dec 2026 00:00:00 +0000', 2026-12-31",
    "'Fri, 1 Jan 2027 00:00:00 GMT', 2027-01-01",
    "Sat Feb 29 00:00:00 UTC 2028, 2028-02-29",
    "'  Thu  Dec  3  00:00:00 UTC 2026 ', 2026-12-03",
  })
  void aDayIsReadInTheWaysOfClients(String text, LocalDate day) {
    assertEquals(day, FlightDates.parse("fromDate", text));
  }

  @Test
  void namesAreEnglishWhateverTheServersLocale() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      assertEquals(
          LocalDate.of(2026, 12, 31), FlightDates.parse("x", "Thu Dec 31 00:00:00 CET 2026"));
    } finally {
      Locale.setDefault(before);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "null",
        "2026-11-24",
        "Tue Nov 24",
        "Tue Nov 24 00:00:00 UTC",
        "Tue Nov 31 00:00:00 UTC 2026",
        "Sun Feb 29 00:00:00 UTC 2026",
        "Tue Nuv 24 00:00:00 UTC 2026",
        "Tue Nov x 00:00:00 UTC 2026",
        "Tue Nov 24 00:00:00 UTC 20260",
        "Tue, 24 Nov",
        "Tue, 31 Nov 2026 00:00:00 +0000",
        "Tue, 24 Nuv 2026 00:00:00 +0000",
        "Tue Nov 99999999999 00:00:00 UTC 2026"
      })
  void whatIsNoDayIsRefused(String text) {
    InvalidInputException refused =
        assertThrows(InvalidInputException.class, () -> FlightDates.parse("fromDate", text));
    assertTrue(refused.getMessage().contains("'fromDate'"), refused.getMessage());
  }
}
