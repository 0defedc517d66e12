// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A cookie, read as RFC 6265 has it in section 5.2: whatever is no {@code name=value} is none, a
 * value is kept as it was written, and an attribute that cannot be read is left out.
 *
 * @param domain that it was set for; without the attribute, the host that set it
 * @param path of the requests that it goes to, with those below
 * @param expires epoch milliseconds; {@code Long.MAX_VALUE}: it does not
 */
record Cookie(String name, String value, String domain, String path, long expires) {
  private static final long SECOND_MILLIS = 1000;
  private static final Pattern IP_ADDRESS = Pattern.compile("[\\d.]+|\\[.*]");
  private static final Pattern AGE = Pattern.compile("-?\\d+");

  /** What stands between the parts of a date (section 5.1.1). */
  private static final Pattern DELIMITER =
      Pattern.compile("[\\t\\x20-\\x2F\\x3B-\\x40\\x5B-\\x60\\x7B-\\x7E]+");

  private static final Pattern TIME = Pattern.compile("(\\d{1,2}):(\\d{1,2}):(\\d{1,2})(?:\\D.*)?");
  private static final Pattern DAY = Pattern.compile("(\\d{1,2})(?:\\D.*)?");
  private static final Pattern YEAR = Pattern.compile("(\\d{2,4})(?:\\D.*)?");
  private static final List<String> MONTHS =
      List.of("jan feb mar apr may jun jul aug sep oct nov dec".split(" "));
  private static final int FIRST_YEAR = 1601;

  /** Reads a header Set-Cookie; null where it is no cookie, or one for another domain. */
  static Cookie parse(String line, String requestHost, String requestPath, long now) {
    String host = requestHost.toLowerCase(Locale.ROOT);
    String[] parts = line.split(";", -1);
    int equals = parts[0].indexOf('=');
    String name = equals < 0 ? "" : parts[0].substring(0, equals).strip();
    if (name.isEmpty()) {
      return null;
    }
    String domain = host;
    String path = folderOf(requestPath);
    Long age = null;
    Long date = null;
    for (int i = 1; i < parts.length; i++) {
      String[] attribute = parts[i].split("=", 2);
      String text = attribute.length < 2 ? "" : attribute[1].strip();
      switch (attribute[0].strip().toLowerCase(Locale.ROOT)) {
        case "domain" -> domain = text.isEmpty() ? domain : domainOf(text);
        case "path" -> path = text.startsWith("/") ? text : folderOf(requestPath);
        case "max-age" -> age = AGE.matcher(text).matches() ? Long.valueOf(end(text, now)) : age;
        case "expires" -> date = date(text, date);
        default -> {
          // Secure, HttpOnly, SameSite and whatever comes: nothing here hangs on them.
        }
      }
    }
    if (!isWithin(host, domain)) {
      return null;
    }
    // An age counts before a date.
    Long expires = age != null ? age : date;
    String value = parts[0].substring(equals + 1).strip();
    return new Cookie(name, value, domain, path, expires != null ? expires : Long.MAX_VALUE);
  }

  private static String domainOf(String text) {
    return (text.startsWith(".") ? text.substring(1) : text).toLowerCase(Locale.ROOT);
  }

  /** Whether a host is a domain, or lies below it (section 5.1.3). */
  private static boolean isWithin(String host, String domain) {
    return host.equals(domain)
        || (host.endsWith("." + domain) && !IP_ADDRESS.matcher(host).matches());
  }

  /** The path of a cookie that names none (section 5.1.4). */
  private static String folderOf(String requestPath) {
    int last = requestPath.lastIndexOf('/');
    return requestPath.startsWith("/") && last > 0 ? requestPath.substring(0, last) : "/";
  }

  private static long end(String age, long now) {
    boolean past = age.startsWith("-");
    // Longer than a long holds is for ever, or long ago.
    if (age.length() > 12) {
      return past ? 0 : Long.MAX_VALUE;
    }
    long seconds = Long.parseLong(age);
    return seconds <= 0 ? 0 : now + seconds * SECOND_MILLIS;
  }

  /** Epoch milliseconds of a date (section 5.1.1); what was known before where it is none. */
  private static Long date(String text, Long before) {
    int[] time = null;
    int day = -1;
    int month = -1;
    int year = -1;
    for (String token : DELIMITER.split(text, -1)) {
      Matcher clock = TIME.matcher(token);
      Matcher dayOfMonth = DAY.matcher(token);
      Matcher anyYear = YEAR.matcher(token);
      int named = MONTHS.indexOf(beginning(token));
      if (time == null && clock.matches()) {
        time = new int[] {number(clock, 1), number(clock, 2), number(clock, 3)};
      } else if (day < 0 && dayOfMonth.matches()) {
        day = number(dayOfMonth, 1);
      } else if (month < 0 && named >= 0) {
        month = named;
      } else if (year < 0 && anyYear.matches()) {
        year = number(anyYear, 1);
      }
    }
    if (year >= 0 && year <= 99) {
      year += year >= 70 ? 1900 : 2000;
    }
    if (time == null || year < FIRST_YEAR) {
      return before;
    }
    try {
      return LocalDateTime.of(year, month + 1, day, time[0], time[1], time[2])
          .toInstant(ZoneOffset.UTC)
          .toEpochMilli();
    } catch (DateTimeException e) {
      return before;
    }
  }

  private static String beginning(String token) {
    return token.substring(0, Math.min(3, token.length())).toLowerCase(Locale.ROOT);
  }

  private static int number(Matcher matcher, int group) {
    return Integer.parseInt(matcher.group(group));
  }

  /** Whether one takes the place of the other (section 5.3, step 11). */
  boolean isSameAs(Cookie other) {
    return name.equals(other.name) && domain.equals(other.domain) && path.equals(other.path);
  }

  boolean hasExpired(long now) {
    return expires <= now;
  }

  /** Whether it goes to a path (section 5.1.4). */
  boolean covers(String requestPath) {
    return path.equals("/")
        || (requestPath.startsWith(path)
            && (requestPath.length() == path.length()
                || path.endsWith("/")
                || requestPath.charAt(path.length()) == '/'));
  }
}
