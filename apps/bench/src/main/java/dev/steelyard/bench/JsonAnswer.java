// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonWriter;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes the answers of this module. */
final class JsonAnswer {

  private JsonAnswer() {}

  /** Answers with this status and body, which no cache may keep. */
  static void write(HttpServletResponse response, int status, JsonObject body) throws IOException {
    response.setStatus(status);
    response.setContentType("application/json");
    response.setCharacterEncoding(StandardCharsets.UTF_8.name());
    response.setHeader("Cache-Control", "no-store");
    // As bytes: through its own writer Liberty states too small a length for a text that is not
    // ASCII, and cuts it off.
    try (JsonWriter writer = Json.createWriter(response.getOutputStream())) {
      writer.writeObject(body);
    }
  }
}
