// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Refused;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonStructure;
import jakarta.json.JsonWriter;
import jakarta.json.JsonWriterFactory;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A servlet that answers GET and POST alike, and says in a page what could not be done. */
abstract class Route extends HttpServlet {

  private static final long serialVersionUID = 1L;

  /** Says that something went wrong here. */
  static final String FAILED = "It could not be done; the log of the server says why.";

  private static final Logger LOG = Logger.getLogger(Route.class.getName());

  /** {@code Json.createWriter} would look a provider up for each answer. */
  private static final JsonWriterFactory WRITERS = Json.createWriterFactory(Map.of());

  @Inject private transient PageLayout layout;

  /** Answers a request. */
  protected abstract void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException;

  @Override
  protected final void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    try {
      answer(request, response);
    } catch (Refused e) {
      fail(request, response, e.status(), e.getMessage());
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "A request failed: " + request.getRequestURI(), e);
      fail(request, response, 500, FAILED);
    }
  }

  @Override
  protected final void doPost(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    doGet(request, response);
  }

  private void fail(
      HttpServletRequest request, HttpServletResponse response, int status, String sentence)
      throws IOException {
    if (response.isCommitted()) {
      return;
    }
    response.reset();
    response.setStatus(status);
    layout.error(request, response, sentence);
  }

  /** Who is logged in. */
  static LoggedInUser loggedInUser(HttpServletRequest request) {
    return LoggedInUser.of(request).orElseThrow(Refused::notLoggedIn);
  }

  /** Shows a page. */
  final void show(HttpServletRequest request, HttpServletResponse response, String title, Part main)
      throws IOException {
    layout.show(request, response, title, main);
  }

  /** A part of a page. */
  @FunctionalInterface
  interface Part {
    /** Writes it. */
    void to(Html page);
  }

  /** Answers with something short for a script. */
  static void send(HttpServletResponse response, String type, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    response.setContentType(type);
    response.setHeader("Cache-Control", "no-cache");
    response.setContentLength(bytes.length);
    response.getOutputStream().write(bytes);
  }

  /** Answers with JSON. */
  static void send(HttpServletResponse response, JsonStructure body) throws IOException {
    response.setContentType("application/json");
    response.setCharacterEncoding(StandardCharsets.UTF_8.name());
    response.setHeader("Cache-Control", "no-cache");
    // As bytes: Liberty counts letters where its own writer is closed before anything was sent, and
    // cuts an answer off whose letters take more than one byte.
    try (JsonWriter writer = WRITERS.createWriter(response.getOutputStream())) {
      writer.write(body);
    }
  }
}
