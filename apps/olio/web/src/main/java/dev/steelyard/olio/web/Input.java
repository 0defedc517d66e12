// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.calendar.Views.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.Month;
import java.util.Locale;

/** Parameters of requests. */
final class Input {

  private static final int MOST_PAGES = 1_000_000;

  private Input() {}

  /** A parameter, or an empty text. */
  static String text(HttpServletRequest request, String name) {
    try {
      String given = request.getParameter(name);
      return given == null ? "" : given.strip();
    } catch (IllegalArgumentException e) {
      // So Liberty says that a text is not encoded as it has to be.
      throw Refused.badInput("The parameters cannot be read.");
    }
  }

  /** A parameter that has to be there. */
  static String required(HttpServletRequest request, String name) {
    String given = text(request, name);
    if (given.isEmpty()) {
      throw Refused.badInput("The parameter " + name + " is missing.");
    }
    return given;
  }

  /** A number that has to be there. */
  static int number(HttpServletRequest request, String name) {
    return number(required(request, name), name, Integer.MAX_VALUE);
  }

  private static int number(String given, String name, int most) {
    if (!given.matches("[0-9]{1,10}") || Long.parseLong(given) > most) {
      throw Refused.badInput(name + " is not a whole number, or too large.");
    }
    return Integer.parseInt(given);
  }

  /** The key of an event. */
  static int event(HttpServletRequest request) {
    return number(request, "socialEventID");
  }

  /** The number of a list's page, 0 unless given. */
  static int index(HttpServletRequest request) {
    String given = text(request, "index");
    return given.isEmpty() ? 0 : number(given, "index", MOST_PAGES);
  }

  /** Which events are to be listed, and how. */
  static Filter filter(HttpServletRequest request) {
    return new Filter(
        text(request, "zipcode"),
        day(request),
        text(request, "order").equals("created_at"),
        text(request, "orderBy").equals("1"));
  }

  /** The day that is asked for, or null. */
  static LocalDate day(HttpServletRequest request) {
    if (text(request, "day").isEmpty()) {
      return null;
    }
    try {
      return LocalDate.of(
          number(request, "year"), month(required(request, "month")), number(request, "day"));
    } catch (DateTimeException e) {
      throw Refused.badInput("There is no such day.");
    }
  }

  /** A month by number or by name. */
  static int month(String given) {
    if (given.matches("[0-9]{1,2}")) {
      return Integer.parseInt(given);
    }
    for (Month month : Month.values()) {
      if (given.length() >= 3 && month.name().startsWith(given.toUpperCase(Locale.ROOT))) {
        return month.getValue();
      }
    }
    throw Refused.badInput("There is no month " + given + ".");
  }
}
