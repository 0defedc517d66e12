// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.spi.JsonProvider;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.logging.Logger;

/** Servlets that need nothing else: answers of several kinds, JSON, a look-up, a collection. */
@WebServlet({
  "/servlet/PingServlet",
  "/servlet/PingServletWriter",
  "/servlet/PingServletSetContentLength",
  "/servlet/PingServletLargeContentLength",
  "/servlet/PingServlet2JNDI",
  "/servlet/PingJSONP",
  "/servlet/ExplicitGC"
})
public class PlainPrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  private static final Logger LOG = Logger.getLogger(PlainPrimitives.class.getName());
  private static final JsonProvider JSON = JsonProvider.provider();
  private static final int LONGEST_BODY = 100_000_000;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    switch (name) {
      case "PingServlet" ->
          response
              .getOutputStream()
              .write(page(name, "By the output stream").getBytes(StandardCharsets.ISO_8859_1));
      case "PingServletSetContentLength" ->
          body(response, number(request, "contentLength", 0, LONGEST_BODY));
      case "PingServletLargeContentLength" ->
          LOG.info(() -> "The request has " + request.getContentLengthLong() + " bytes");
      case "PingServlet2JNDI" ->
          show(
              response,
              name,
              lookup("java:comp/env/jdbc/TradeDataSource").getClass().getSimpleName());
      case "PingJSONP" -> show(response, name, json());
      case "ExplicitGC" -> show(response, name, collection());
      default -> show(response, name, "By the writer");
    }
  }

  private static void body(HttpServletResponse response, int length) throws IOException {
    response.setContentLength(length);
    byte[] piece = new byte[Math.min(length, 8192)];
    Arrays.fill(piece, (byte) '0');
    for (int left = length; left > 0; left -= piece.length) {
      response.getOutputStream().write(piece, 0, Math.min(left, piece.length));
    }
  }

  private static String json() {
    String text =
        JSON.createObjectBuilder()
            .add("firstName", "John")
            .add("age", random().nextInt(100))
            .add("phones", JSON.createArrayBuilder().add("555-0100").add("555-0101"))
            .build()
            .toString();
    try (JsonReader reader = JSON.createReader(new StringReader(text))) {
      JsonObject parsed = reader.readObject();
      return "Written: %s<br>Parsed: %s, %d, %s"
          .formatted(
              text,
              parsed.getString("firstName"),
              parsed.getInt("age"),
              parsed.getJsonArray("phones"));
    }
  }

  private static String collection() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    long before = memory.getHeapMemoryUsage().getUsed();
    long start = System.nanoTime();
    memory.gc();
    long millis = (System.nanoTime() - start) / 1_000_000;
    return """
    <table border="1"><tr><th>heap</th><th>bytes</th></tr>
    <tr><td>used before</td><td>%d</td></tr>
    <tr><td>used after</td><td>%d</td></tr>
    <tr><td>largest</td><td>%d</td></tr></table>
    The collection took %d ms.\
    """
        .formatted(
            before,
            memory.getHeapMemoryUsage().getUsed(),
            memory.getHeapMemoryUsage().getMax(),
            millis);
  }
}
