// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.acmeair;

import dev.steelyard.loadgen.journey.WrongAnswer;
import java.net.HttpCookie;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cookies of one user at one server. They are the journey's and not Gatling's: in the open model
 * any slot may send the next request of a journey, and Gatling's jar, which knows no ports, would
 * mix servers of one host. All of the workload's cookies are for the path {@code /} and the
 * session.
 */
public final class Cookies {
  private final Map<String, String> values = new LinkedHashMap<>();
  private String header;

  /**
   * Takes the cookies of an answer; each replaces one of the same name.
   *
   * @param setCookies values of its headers Set-Cookie
   * @param needed name of a cookie that it must have set
   * @throws WrongAnswer if it has not, or if a header cannot be read
   */
  public void take(List<String> setCookies, String needed) {
    boolean given = false;
    for (String line : setCookies) {
      for (HttpCookie cookie : parse(line)) {
        values.put(cookie.getName(), cookie.getValue());
        given |= cookie.getName().equals(needed) && !cookie.getValue().isEmpty();
      }
    }
    if (!given) {
      throw new WrongAnswer("the answer sets no cookie " + needed);
    }
    StringBuilder joined = new StringBuilder();
    values.forEach(
        (name, value) ->
            joined.append(joined.isEmpty() ? "" : "; ").append(name).append('=').append(value));
    header = joined.toString();
  }

  private static List<HttpCookie> parse(String line) {
    try {
      return HttpCookie.parse(line);
    } catch (IllegalArgumentException e) {
      throw new WrongAnswer("the answer has a cookie that cannot be read");
    }
  }

  /** The value of the header Cookie, or null as long as there are none. */
  public String header() {
    return header;
  }
}
