// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.net.HttpCookie;
import java.util.ArrayList;
import java.util.List;

/**
 * Cookies of one user at one server. They are the user's and not Gatling's: in the open model any
 * slot may send the next request of a user, and Gatling's jar, which knows no ports, would mix
 * servers of one host. A user has one server, so that domains mean nothing here; paths and ages
 * count (RFC 6265).
 */
public final class Cookies {
  private final List<HttpCookie> kept = new ArrayList<>();

  /**
   * Takes a cookie of an answer; it replaces one of the same name and path, and one that has
   * expired removes that.
   *
   * @param setCookie value of a header Set-Cookie; one that cannot be read is ignored, as browsers
   *     do
   * @param requestPath path of the request that was answered
   */
  public void take(String setCookie, String requestPath) {
    for (HttpCookie cookie : parse(setCookie)) {
      if (cookie.getPath() == null || !cookie.getPath().startsWith("/")) {
        cookie.setPath(requestPath.substring(0, Math.max(1, requestPath.lastIndexOf('/'))));
      }
      kept.removeIf(
          old -> old.getName().equals(cookie.getName()) && old.getPath().equals(cookie.getPath()));
      if (!cookie.hasExpired()) {
        kept.add(cookie);
      }
    }
  }

  private static List<HttpCookie> parse(String line) {
    try {
      return HttpCookie.parse("Set-Cookie: " + line);
    } catch (IllegalArgumentException e) {
      return List.of();
    }
  }

  /** The value of the header Cookie of a request, or null if there are none for its path. */
  public String header(String path) {
    if (kept.isEmpty()) {
      return null;
    }
    StringBuilder joined = new StringBuilder();
    for (HttpCookie cookie : kept) {
      if (!cookie.hasExpired() && covers(cookie.getPath(), path)) {
        joined.append(joined.isEmpty() ? "" : "; ").append(cookie.getName());
        joined.append('=').append(cookie.getValue());
      }
    }
    return joined.isEmpty() ? null : joined.toString();
  }

  private static boolean covers(String cookiePath, String path) {
    return cookiePath.equals("/")
        || (path.startsWith(cookiePath)
            && (path.length() == cookiePath.length()
                || cookiePath.endsWith("/")
                || path.charAt(cookiePath.length()) == '/'));
  }

  /** Forgets all. */
  public void clear() {
    kept.clear();
  }
}
