// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * A small airline on the wire, with sessions, customers and bookings of its own. Stricter than the
 * real one: whoever asks for something of a customer must be logged in here as that customer.
 */
final class AcmeairServer implements AutoCloseable {
  private static final Set<String> DAYS_WITH_FLIGHTS = Set.of("15", "16", "17", "18", "19");
  private static final Set<String> NO_DEPARTURES = Set.of("BOM", "DEL");
  private static final int FORBIDDEN = 403;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(16);
  private final String cookie;
  private final Map<String, String> sessions = new ConcurrentHashMap<>();
  private final Map<String, ObjectNode> customers = new ConcurrentHashMap<>();
  private final Map<String, Set<String>> bookings = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> served = new ConcurrentHashMap<>();

  /**
   * @param cookie name of the session's cookie
   */
  AcmeairServer(String cookie) throws IOException {
    this.cookie = cookie;
    server = PingServer.newServer(threads);
    server.createContext("/", this::serve);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Requests to paths that hold this text. */
  long served(String part) {
    return served.entrySet().stream()
        .filter(each -> each.getKey().contains(part))
        .mapToLong(each -> each.getValue().sum())
        .sum();
  }

  long sessions() {
    return sessions.size();
  }

  private void serve(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    served.computeIfAbsent(path, unseen -> new LongAdder()).increment();
    String answer = path.endsWith("/login") ? login(exchange, form(body)) : reply(exchange, body);
    PingServer.answer(exchange, answer == null ? FORBIDDEN : 200, answer == null ? "" : answer);
  }

  private String login(HttpExchange exchange, Map<String, String> form) {
    if (!"password".equals(form.get("password"))) {
      return null;
    }
    String id = UUID.randomUUID().toString();
    sessions.put(id, form.get("login"));
    exchange.getResponseHeaders().add("Set-Cookie", cookie + "=" + id + "; Path=/");
    exchange.getResponseHeaders().add("Set-Cookie", "other=" + form.get("login") + "; Path=/");
    return "logged in";
  }

  private String reply(HttpExchange exchange, String body) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String last = path.substring(path.lastIndexOf('/') + 1);
    if (last.equals("queryflights")) {
      return flights(form(body));
    }
    String session = session(exchange);
    String customer = session == null ? null : sessions.get(session);
    if (last.equals("logout")) {
      return sessions.remove(session, form(exchange.getRequestURI().getRawQuery()).get("login"))
          ? "logged out"
          : null;
    }
    boolean form = last.equals("bookflights") || last.equals("cancelbooking");
    if (customer == null || !customer.equals(form ? form(body).get("userid") : last)) {
      return null;
    }
    if (path.contains("/byid/")) {
      return profile(customer, exchange.getRequestMethod(), body);
    }
    Set<String> mine = bookings.computeIfAbsent(customer, unseen -> new ConcurrentSkipListSet<>());
    return switch (last) {
      case "bookflights" -> book(mine, form(body));
      case "cancelbooking" -> cancel(mine, form(body).get("number"));
      default -> list(mine, customer);
    };
  }

  private String session(HttpExchange exchange) {
    String header = exchange.getRequestHeaders().getFirst("Cookie");
    return Arrays.stream(header == null ? new String[0] : header.split("; "))
        .filter(each -> each.startsWith(cookie + "="))
        .map(each -> each.substring(cookie.length() + 1))
        .findFirst()
        .orElse(null);
  }

  private String profile(String customer, String method, String body) throws IOException {
    ObjectNode stored = customers.computeIfAbsent(customer, AcmeairServer::newCustomer);
    if (method.equals("POST")) {
      ObjectNode update = (ObjectNode) Injector.JSON.readTree(body);
      if (!update.path("password").asText().equals("password") || update.size() != stored.size()) {
        return null;
      }
      stored = update;
      customers.put(customer, stored);
    }
    return stored.toString();
  }

  private static ObjectNode newCustomer(String id) {
    ObjectNode customer = Injector.JSON.createObjectNode().put("_id", id).put("total_miles", 7);
    customer
        .putObject("address")
        .put("streetAddress1", "123 Main St.")
        .putNull("streetAddress2")
        .put("postalCode", "99999");
    return customer.putNull("password");
  }

  private static String flights(Map<String, String> form) {
    String from = form.get("fromAirport");
    String to = form.get("toAirport");
    List<String> date = List.of(form.get("fromDate").split(" "));
    boolean found =
        !from.equals(to)
            && !NO_DEPARTURES.contains(from)
            && DAYS_WITH_FLIGHTS.contains(date.get(2));
    String option = "{\"_id\":\"f1\",\"flightSegmentId\":\"AA1\"}";
    return "{\"tripFlights\":[{\"flightsOptions\":[%s]},{\"flightsOptions\":[]}],\"tripLegs\":2}"
        .formatted(found ? option : "");
  }

  private static String book(Set<String> mine, Map<String, String> form) {
    if (!"f1".equals(form.get("toFlightId")) || !"true".equals(form.get("oneWayFlight"))) {
      return null;
    }
    String id = UUID.randomUUID().toString();
    mine.add(id);
    return "{\"oneWay\":true,\"departBookingId\":\"%s\"}".formatted(id);
  }

  private static String cancel(Set<String> mine, String id) {
    mine.remove(id);
    return "booking " + id + " deleted.";
  }

  private static String list(Set<String> mine, String customer) {
    ArrayNode entries = Injector.JSON.createArrayNode();
    mine.forEach(id -> entries.addObject().put("_id", id).put("customerId", customer));
    return entries.toString();
  }

  private static Map<String, String> form(String text) {
    return Arrays.stream(text.split("&"))
        .map(pair -> pair.split("=", 2))
        .collect(Collectors.toMap(pair -> pair[0], pair -> decoded(pair[1])));
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
