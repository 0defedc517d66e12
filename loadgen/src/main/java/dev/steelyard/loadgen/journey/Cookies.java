// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;

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
    return header(requestPath, "");
  }

  /**
   * The same with cookies that the request brings itself. They come last, in the place of the
   * user's of the same names, and are not kept.
   *
   * @param declared as in the header; empty for none
   */
  public String header(String requestPath, String declared) {
    if (kept.isEmpty() && declared.isEmpty()) {
      return null;
    }
    List<String> own =
        declared.isEmpty()
            ? List.of()
            : Arrays.stream(declared.split(";")).map(String::strip).toList();
    List<String> names = own.stream().map(each -> each.replaceFirst("=.*", "").strip()).toList();
    String path = withoutQuery(requestPath);
    long now = System.currentTimeMillis();
    StringJoiner joined = new StringJoiner("; ");
    for (Cookie cookie : kept) {
      if (!cookie.hasExpired(now) && cookie.covers(path) && !names.contains(cookie.name())) {
        joined.add(cookie.name() + "=" + cookie.value());
      }
    }
    own.stream().filter(each -> !each.isEmpty()).forEach(joined::add);
    return joined.length() == 0 ? null : joined.toString();
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
