// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey;

import java.util.HashMap;
import java.util.Map;

/**
 * What a user keeps of the pages that it fetched, to ask the next time for what is newer only (RFC
 * 9110, conditional requests). Bodies are not kept: nobody reads them twice.
 */
public final class Validators {
  private final Map<String, Validator> known = new HashMap<>();

  /**
   * What a server said of the page that it sent.
   *
   * @param etag value of the header ETag, or null
   * @param lastModified value of the header Last-Modified, or null
   */
  public record Validator(String etag, String lastModified) {}

  /** What is known of a page, or null. */
  public Validator of(String url) {
    return known.get(url);
  }

  /** Notes what came with a page; nothing is known of one that came with neither. */
  public void keep(String url, String etag, String lastModified) {
    if (etag == null && lastModified == null) {
      known.remove(url);
    } else {
      known.put(url, new Validator(etag, lastModified));
    }
  }
}
