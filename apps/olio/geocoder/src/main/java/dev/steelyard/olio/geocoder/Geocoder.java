// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.geocoder;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/**
 * The service: {@code /geocode} answers with one place, after a fixed delay; {@code /health/live}
 * and {@code /health/ready} are as those of the applications; {@code /stats} and {@code
 * /bench/info} tell how often it was asked, and with which delay.
 *
 * <p>Addresses are in ISO-8859-1, by GET or by POST, as the service had it that this one stands
 * for.
 */
public final class Geocoder {

  /**
   * Threads: no more requests are under way than servers have request threads for two operations.
   */
  private static final int THREADS = 64;

  private static final int LONGEST_BODY = 10_000;
  private static final String PLACE =
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <ResultSet xmlns="urn:yahoo:maps"><Result precision="address"><Latitude>33.0000</Latitude>\
      <Longitude>-177.0000</Longitude><Address>%s</Address><City>%s</City><State>%s</State>\
      <Zip>%s</Zip><Country>USA</Country></Result></ResultSet>
      """;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
  private final LongAdder requests = new LongAdder();
  private final LongAdder nanos = new LongAdder();
  private final long start = System.nanoTime();
  private final int delayMillis;

  /**
   * Listens; answers once it is started.
   *
   * @param port to listen on; 0 for any
   * @param delayMillis that every answer waits
   * @throws IOException if the port is taken
   */
  public Geocoder(String host, int port, int delayMillis) throws IOException {
    this.delayMillis = delayMillis;
    // It sends head and body of an answer apart: each body would wait 40 ms for the acknowledgement
    // of its head.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    server = HttpServer.create(new InetSocketAddress(host, port), 0);
    server.setExecutor(threads);
    server.createContext("/geocode", this::geocode);
    server.createContext("/health/", each -> json(each, "{\"status\":\"UP\",\"checks\":[]}"));
    server.createContext("/stats", each -> json(each, "{\"requests\":" + requests.sum() + "}"));
    server.createContext(
        "/bench/info",
        each ->
            json(
                each,
                "{\"workload\":\"geocoder\",\"settings\":{\"delay\":\"%d\"},\"pid\":%d}"
                    .formatted(delayMillis, ProcessHandle.current().pid())));
    server.createContext("/bench/counters", each -> json(each, counters()));
  }

  /** Answers from now on. */
  public void start() {
    server.start();
  }

  /** The port that it listens on. */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Ends. */
  public void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  private String counters() {
    return """
        {"uptimeNanos":%d,"epochMillis":%d,"operations":{"geocode":{"requests":%d,"errors":0,\
        "serviceTimeNanos":%d}},"messages":{}}"""
        .formatted(
            System.nanoTime() - start, System.currentTimeMillis(), requests.sum(), nanos.sum());
  }

  private void geocode(HttpExchange exchange) throws IOException {
    long began = System.nanoTime();
    Map<String, String> asked = parameters(exchange);
    if (delayMillis > 0) {
      try {
        Thread.sleep(delayMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    String place =
        PLACE.formatted(
            escaped(asked.get("street")),
            escaped(asked.get("city")),
            escaped(asked.get("state")),
            escaped(asked.get("zip")));
    requests.increment();
    nanos.add(System.nanoTime() - began);
    answer(exchange, "application/xml;charset=UTF-8", place);
  }

  private static Map<String, String> parameters(HttpExchange exchange) throws IOException {
    String query = exchange.getRequestURI().getRawQuery();
    byte[] body = exchange.getRequestBody().readNBytes(LONGEST_BODY);
    String all = (query == null ? "" : query) + "&" + new String(body, StandardCharsets.ISO_8859_1);
    Map<String, String> parameters = new HashMap<>();
    for (String each : all.split("&", -1)) {
      int equals = each.indexOf('=');
      if (equals > 0) {
        parameters.put(each.substring(0, equals), decoded(each.substring(equals + 1)));
      }
    }
    return parameters;
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.ISO_8859_1);
    } catch (IllegalArgumentException badEscape) {
      return text;
    }
  }

  private static String escaped(String text) {
    return text == null
        ? ""
        : text.replace("&", "&amp;").replace("<", "&lt;").replaceAll("[\\x00-\\x1f]", " ");
  }

  private static void json(HttpExchange exchange, String body) throws IOException {
    answer(exchange, "application/json", body);
  }

  private static void answer(HttpExchange exchange, String type, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(200, bytes.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }
}
