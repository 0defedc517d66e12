// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import java.util.Map;
import java.util.function.Consumer;

/**
 * One request of an operation.
 *
 * @param kind how it is sent, and what answers it
 * @param path with the context root and a query
 * @param fields of its form, by name
 * @param then learns what answered it, and may ask for more
 */
public record Fetch(Kind kind, String path, Map<String, String> fields, Consumer<String> then) {
  /** How a request is sent, and what answers it. */
  public enum Kind {
    /** A page; its text is read. */
    PAGE,
    /** A script, a style or a picture of the design, in full. */
    STATIC,
    /** The same that the browser has: asked for if it is newer, which it never is. */
    UNCHANGED,
    /** A picture of a person or an event. */
    IMAGE,
    /** The log-out; redirected to a page that nobody asks for. */
    LOGOUT,
    /** The form of the log-in; redirected. */
    LOGIN,
    /** The form of the tag search; a page. */
    SEARCH,
    /** The form of a new person, with a picture; a page. */
    PERSON,
    /** The form of a new event, with a picture and a document; redirected. */
    EVENT
  }

  /** A request without a form, after which nothing is asked for. */
  static Fetch of(Kind kind, String path) {
    return new Fetch(kind, path, Map.of(), answer -> {});
  }

  /** A page. */
  static Fetch page(String path, Consumer<String> then) {
    return new Fetch(Kind.PAGE, path, Map.of(), then);
  }
}
