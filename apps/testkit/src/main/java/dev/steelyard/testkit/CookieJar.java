// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** The cookies of one user, whatever the path: kept and dropped as answers say. */
final class CookieJar {

  private final Map<String, String> cookies = new LinkedHashMap<>();

  void take(HttpResponse<?> response) {
    for (String header : response.headers().allValues("Set-Cookie")) {
      String[] pair = header.split(";", 2)[0].split("=", 2);
      if (header.matches("(?i).*;\\s*max-age=0\\b.*") || header.contains("01-Jan-1970")) {
        cookies.remove(pair[0]);
      } else {
        cookies.put(pair[0], pair[1]);
      }
    }
  }

  /** The header {@code Cookie}; empty without cookies. */
  String header() {
    return cookies.entrySet().stream()
        .map(cookie -> cookie.getKey() + "=" + cookie.getValue())
        .collect(Collectors.joining("; "));
  }
}
