// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

/** Servlets that call this server over HTTP, at the port that they were called at. */
@WebServlet({"/servlet/PingReentryServlet", "/servlet/PingServlet2PDF", "/docs/document.pdf"})
public class LoopbackPrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  private static final int MOST_REENTRIES = 100;
  private static final int LONGEST_SLEEP_MS = 60_000;
  private static final int DOCUMENT_BYTES = 900_000;

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final byte[] DOCUMENT = document();

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    switch (name) {
      case "PingReentryServlet" -> show(response, name, reenter(request));
      case "PingServlet2PDF" -> {
        response.setContentType("application/pdf");
        response.getOutputStream().write(get(request, "/docs/document.pdf").body());
      }
      default -> {
        response.setContentType("application/pdf");
        response.setContentLength(DOCUMENT.length);
        response.getOutputStream().write(DOCUMENT);
      }
    }
  }

  private static String reenter(HttpServletRequest request) throws Exception {
    int left = number(request, "numReentries", 0, MOST_REENTRIES);
    int sleep = number(request, "sleep", 0, LONGEST_SLEEP_MS);
    if (left == 0) {
      Thread.sleep(sleep);
      return "Entered";
    }
    int status =
        get(request, "/servlet/PingReentryServlet?numReentries=" + (left - 1) + "&sleep=" + sleep)
            .statusCode();
    return "Entered " + left + " times more: status " + status;
  }

  private static HttpResponse<byte[]> get(HttpServletRequest request, String path)
      throws IOException, InterruptedException {
    URI uri =
        URI.create("http://localhost:" + request.getLocalPort() + request.getContextPath() + path);
    return CLIENT.send(
        HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  /** An empty page of a document, with a long stream that nothing shows. */
  private static byte[] document() {
    String head =
        """
        %PDF-1.4
        1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
        2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
        3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >> endobj
        4 0 obj << /Length %d >>
        stream
        """
            .replace("%d", Integer.toString(DOCUMENT_BYTES));
    String tail =
        """

        endstream
        endobj
        trailer << /Root 1 0 R /Size 5 >>
        %%EOF
        """;
    return (head + "x".repeat(DOCUMENT_BYTES) + tail).getBytes(StandardCharsets.ISO_8859_1);
  }
}
