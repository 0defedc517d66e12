// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How a form without files is sent by POST (HTML, section 4.10.21.8). */
enum Enctype {
  URL_ENCODED,
  MULTIPART,
  PLAIN;

  /** Ends a part of a multipart body; no text of a form holds it. */
  private static final String BOUNDARY = "----SteelyardFormBoundaryq7Zt0Vb4Lx9Kd2Rm";

  /** By the attribute of a form; whatever else stands there, or nothing: url-encoded. */
  static Enctype of(String attribute) {
    return switch (attribute.toLowerCase(Locale.ROOT)) {
      case "multipart/form-data" -> MULTIPART;
      case "text/plain" -> PLAIN;
      default -> URL_ENCODED;
    };
  }

  /** Value of the header Content-Type. */
  String contentType() {
    return switch (this) {
      case URL_ENCODED -> "application/x-www-form-urlencoded";
      case MULTIPART -> "multipart/form-data; boundary=" + BOUNDARY;
      case PLAIN -> "text/plain";
    };
  }

  /** The body. */
  String encode(List<Map.Entry<String, String>> entries) {
    return switch (this) {
      case URL_ENCODED ->
          entries.stream()
              .map(each -> encoded(each.getKey()) + "=" + encoded(each.getValue()))
              .collect(Collectors.joining("&"));
      case MULTIPART ->
          entries.stream()
              .map(each -> part(each.getKey(), each.getValue()))
              .collect(Collectors.joining("", "", "--" + BOUNDARY + "--\r\n"));
      case PLAIN ->
          entries.stream()
              .map(each -> each.getKey() + "=" + each.getValue() + "\r\n")
              .collect(Collectors.joining());
    };
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8);
  }

  private static String part(String name, String value) {
    String quoted = name.replace("\r", "%0D").replace("\n", "%0A").replace("\"", "%22");
    return "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n"
        .formatted(BOUNDARY, quoted, value);
  }
}
