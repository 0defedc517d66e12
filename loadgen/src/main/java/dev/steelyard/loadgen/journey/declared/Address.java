// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import java.net.URLEncoder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address, taken apart as RFC 3986 has it in appendix B. {@code java.net.URI} refuses what
 * browsers follow, and resolves as an older standard says.
 *
 * @param scheme null for none
 * @param authority host and port; null for none
 * @param path empty for none
 * @param query with its question mark; null for none
 */
record Address(String scheme, String authority, String path, String query) {
  private static final Pattern PARTS =
      Pattern.compile("(?s)(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?]*))?([^?]*)(\\?.*)?");

  /** What browsers take away at both ends, and everywhere (URL standard, section 4.4). */
  private static final Pattern ENDS = Pattern.compile("^[\\x00-\\x20]+|[\\x00-\\x20]+$");

  private static final Pattern LINE_ENDS = Pattern.compile("[\\t\\r\\n]");

  /** What stands in no path or query, but in a percent-encoded one. */
  private static final String OUTSIDE = "%%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~!$&'()*+,;=:@/%%%s-]";

  private static final Pattern NOT_IN_PATH = Pattern.compile(OUTSIDE.formatted(""));
  private static final Pattern NOT_IN_QUERY = Pattern.compile(OUTSIDE.formatted("?\\[\\]"));

  private static final Pattern HOST = Pattern.compile("(?s)(?:.*@)?(\\[.*]|[^:]*)(?::(\\d*))?");

  /** Takes apart what stands before the fragment; what has to be encoded is. */
  static Address parse(String text) {
    String given = LINE_ENDS.matcher(ENDS.matcher(text).replaceAll("")).replaceAll("");
    Matcher parts = PARTS.matcher(given.replaceFirst("(?s)#.*", ""));
    if (!parts.matches()) {
      throw new IllegalStateException("The pattern takes any text, and not " + given);
    }
    return new Address(
        parts.group(1),
        parts.group(2),
        encoded(parts.group(3).replace('\\', '/'), NOT_IN_PATH),
        parts.group(4) == null ? null : encoded(parts.group(4), NOT_IN_QUERY));
  }

  private static String encoded(String text, Pattern outside) {
    // The encoder is one for forms, whose space is a plus sign.
    return outside
        .matcher(text)
        .replaceAll(each -> URLEncoder.encode(each.group(), UTF_8).replace("+", "%20"));
  }

  /** Where it leads to from a page (RFC 3986, section 5.2); its path is never empty. */
  Address from(Address page) {
    if (scheme != null) {
      return new Address(scheme, authority, withoutDots(path), query);
    }
    if (authority != null) {
      return new Address(page.scheme, authority, withoutDots(path), query);
    }
    if (path.isEmpty()) {
      String asked = query == null ? page.query : query;
      return new Address(page.scheme, page.authority, withoutDots(page.path), asked);
    }
    String folder = path.startsWith("/") ? "" : page.path.replaceFirst("[^/]*$", "");
    return new Address(page.scheme, page.authority, withoutDots(folder + path), query);
  }

  private static String withoutDots(String path) {
    Deque<String> kept = new ArrayDeque<>();
    String[] segments = path.replaceFirst("^/", "").split("/", -1);
    for (int i = 0; i < segments.length; i++) {
      boolean up = segments[i].equals("..");
      if (up) {
        kept.pollLast();
      }
      if (!up && !segments[i].equals(".")) {
        kept.add(segments[i]);
      } else if (i == segments.length - 1) {
        kept.add("");
      }
    }
    return "/" + String.join("/", kept);
  }

  /** Whether both are of one server. */
  boolean isAtServerOf(Address other) {
    return authority != null
        && scheme.equalsIgnoreCase(other.scheme)
        && host().equalsIgnoreCase(other.host())
        && port().equals(other.port());
  }

  private String host() {
    Matcher parts = HOST.matcher(authority);
    return parts.matches() ? parts.group(1) : "";
  }

  private String port() {
    Matcher parts = HOST.matcher(authority);
    String written = parts.matches() ? requireNonNullElse(parts.group(2), "") : authority;
    if (!written.isEmpty()) {
      return written;
    }
    return scheme.equalsIgnoreCase("https") ? "443" : "80";
  }

  @Override
  public String toString() {
    return "%s://%s%s%s".formatted(scheme, authority, path, requireNonNullElse(query, ""));
  }
}
