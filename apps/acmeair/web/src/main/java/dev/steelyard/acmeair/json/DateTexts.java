// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.json;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Dates as Java's {@link java.util.Date} prints them, such as {@code Fri Nov 20 00:20:00 UTC 2026}.
 */
public final class DateTexts {

  private final DateTimeFormatter format;

  /** Texts in this time zone, in English. */
  public DateTexts(ZoneId zone) {
    this.format =
        DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss zzz yyyy", Locale.ENGLISH).withZone(zone);
  }

  /** The text of a date. */
  public String format(Instant date) {
    return format.format(date);
  }
}
