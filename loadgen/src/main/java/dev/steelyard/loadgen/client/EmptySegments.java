// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

/**
 * Empty segments of paths, as in {@code /thumb/https://host/a.png}: another resource than with one
 * slash (RFC 3986, section 3.3), but Gatling's parser of addresses makes one slash of several. They
 * have a name until the request is written.
 */
public final class EmptySegments {
  private static final String NAME = "steelyard-empty-segment";

  private EmptySegments() {}

  /** An address whose empty segments have the name. */
  public static String named(String url) {
    int path = url.indexOf("//") + 2;
    int query = url.indexOf('?');
    int end = query < 0 ? url.length() : query;
    int first = url.indexOf("//", path);
    if (first < 0 || first >= end) {
      return url;
    }
    String segments = url.substring(path, end);
    while (segments.contains("//")) {
      segments = segments.replace("//", "/" + NAME + "/");
    }
    return url.substring(0, path) + segments + url.substring(end);
  }

  /** An address or a path without the name. */
  public static String restored(String address) {
    return address.replace(NAME, "");
  }
}
