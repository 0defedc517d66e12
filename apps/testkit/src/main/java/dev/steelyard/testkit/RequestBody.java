// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The body of a case's request. */
final class RequestBody {

  private static final String BOUNDARY = "------------------------steelyard";

  private final String type;
  private final byte[] bytes;

  private RequestBody(String type, byte[] bytes) {
    this.type = type;
    this.bytes = bytes;
  }

  /** Media type, or null where the case's headers say it or there is none. */
  String type() {
    return type;
  }

  byte[] bytes() {
    return bytes;
  }

  /** The body of a case, or null if it has none. */
  static RequestBody of(ContractCase row, UnaryOperator<String> filled) throws IOException {
    if (row.form() != null) {
      return text("application/x-www-form-urlencoded", form(row.form(), filled));
    }
    if (row.json() != null) {
      return text("application/json", filled.apply(row.json().toString()));
    }
    if (row.multipart() != null) {
      return new RequestBody(
          "multipart/form-data; boundary=" + BOUNDARY, multipart(row.multipart(), filled));
    }
    if (row.base64() != null) {
      return new RequestBody(null, Base64.getDecoder().decode(row.base64()));
    }
    return row.body() == null ? null : text(null, filled.apply(row.body()));
  }

  private static RequestBody text(String type, String text) {
    return new RequestBody(type, text.getBytes(StandardCharsets.UTF_8));
  }

  private static String form(Map<String, JsonNode> fields, UnaryOperator<String> filled) {
    List<String> pairs = new ArrayList<>();
    fields.forEach(
        (name, values) -> {
          for (JsonNode value : values.isArray() ? values : List.of(values)) {
            pairs.add(encoded(name) + "=" + encoded(filled.apply(value.asText())));
          }
        });
    return String.join("&", pairs);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static byte[] multipart(Map<String, JsonNode> fields, UnaryOperator<String> filled)
      throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Map.Entry<String, JsonNode> field : fields.entrySet()) {
      JsonNode value = field.getValue();
      String head = "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"%s\"";
      out.write(head.formatted(field.getKey()).getBytes(StandardCharsets.UTF_8));
      if (value.has("file")) {
        String file = "; filename=\"%s\"\r\nContent-Type: %s";
        String type = value.path("type").asText("application/octet-stream");
        out.write(
            file.formatted(value.get("file").asText(), type).getBytes(StandardCharsets.UTF_8));
      }
      out.write("\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      out.write(part(value, filled));
      out.write("\r\n".getBytes(StandardCharsets.UTF_8));
    }
    out.write(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.UTF_8));
    return out.toByteArray();
  }

  private static byte[] part(JsonNode value, UnaryOperator<String> filled) throws IOException {
    if (value.has("base64")) {
      return value.get("base64").binaryValue();
    }
    if (value.has("zeros")) {
      return new byte[value.get("zeros").asInt()];
    }
    String text = value.isObject() ? value.path("text").asText() : value.asText();
    return filled.apply(text).getBytes(StandardCharsets.UTF_8);
  }
}
