// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.ArrayList;
import java.util.List;

/**
 * Cookies of one user at one server. They are the user's and not Gatling's: in the open model any
 * slot may send the next request of a user, and Gatling's jar, which knows no ports, would mix
 * servers of one host. A user has one server: a cookie for its domain goes to all requests on its
 * path, as the server wrote it, and one for another domain is ignored (RFC 6265, section 5). {@code
 * Secure} is not looked at: a server behind a proxy that ends TLS sets it, and is asked without
 * that proxy.
 */
public final class Cookies {
  /** In the order in which they are sent: longer paths first, then those that came first. */
  private final List<Cookie> kept = new ArrayList<>();

  /**
   * Takes a cookie of an answer; it replaces one of the same name, domain and path, and one that
   * has expired removes that.
   *
   * @param setCookie value of a header Set-Cookie; one that cannot be read is ignored, as browsers
   *     do
   * @param requestHost host of the request that was answered
   * @param requestPath its path
   */
  public void take(String setCookie, String requestHost, String requestPath) {
    long now = System.currentTimeMillis();
    Cookie cookie = Cookie.parse(setCookie, requestHost, withoutQuery(requestPath), now);
    if (cookie == null) {
      return;
    }
    kept.removeIf(old -> old.hasExpired(now) || (cookie.hasExpired(now) && old.isSameAs(cookie)));
    if (cookie.hasExpired(now)) {
      return;
    }
    for (int i = 0; i < kept.size(); i++) {
      if (kept.get(i).isSameAs(cookie)) {
        // It keeps its place, as it keeps the time at which the first was made.
        kept.set(i, cookie);
        return;
      }
    }
    int place = 0;
    while (place < kept.size() && kept.get(place).path().length() >= cookie.path().length()) {
      place++;
    }
    kept.add(place, cookie);
  }

  /** The value of the header Cookie of a request, or null if there are none for its path. */
  public String header(String requestPath) {
    if (kept.isEmpty()) {
      return null;
    }
    String path = withoutQuery(requestPath);
    long now = System.currentTimeMillis();
    StringBuilder joined = new StringBuilder();
    for (Cookie cookie : kept) {
      if (!cookie.hasExpired(now) && cookie.covers(path)) {
        joined.append(joined.isEmpty() ? "" : "; ").append(cookie.name());
        joined.append('=').append(cookie.value());
      }
    }
    return joined.isEmpty() ? null : joined.toString();
  }

  /**
   * The value of a cookie that requests to a path carry, or null; of several, that of the first
   * sent.
   */
  public String value(String name, String requestPath) {
    String path = withoutQuery(requestPath);
    long now = System.currentTimeMillis();
    return kept.stream()
        .filter(each -> each.name().equals(name) && !each.hasExpired(now) && each.covers(path))
        .map(Cookie::value)
        .findFirst()
        .orElse(null);
  }

  private static String withoutQuery(String path) {
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  /** Forgets all. */
  public void clear() {
    kept.clear();
  }
}
