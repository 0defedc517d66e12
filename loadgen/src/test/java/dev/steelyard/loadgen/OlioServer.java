// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.steelyard.loadgen.journey.olio.SocialCalendar;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A small calendar on the wire. Stricter than the real one: an event without a log-in, a form
 * without its files, a condition without its date is answered with 400.
 */
final class OlioServer implements AutoCloseable {
  private static final int BAD = 400;
  private static final int FOUND = 302;

  private final SocialCalendar calendar;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(8);
  private final Map<String, String> sessions = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> served = new ConcurrentHashMap<>();

  OlioServer(int users) throws IOException {
    calendar = new SocialCalendar(users);
    server = PingServer.newServer(threads);
    server.createContext("/olio", this::serve);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Requests that were answered, by method and path. */
  long served(String what) {
    LongAdder count = served.get(what);
    return count == null ? 0 : count.sum();
  }

  private void serve(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    URI uri = exchange.getRequestURI();
    String path = uri.getPath().substring("/olio".length());
    String what = exchange.getRequestMethod() + " " + path;
    String query = uri.getQuery() == null ? "" : uri.getQuery();
    String session = session(exchange);
    String user = session == null ? null : sessions.get(session);
    if (path.matches("/(css|js|images|resources)/.*")) {
      boolean known = exchange.getRequestHeaders().containsKey("If-Modified-Since");
      count(known ? "unchanged" : "static");
      answer(exchange, known ? 304 : 200, known ? "" : path);
      return;
    }
    count(path.startsWith("/access-artifacts/") ? "image" : what);
    switch (what) {
      case "GET /logout" -> {
        sessions.remove(String.valueOf(session));
        redirect(exchange, "/olio/");
      }
      case "POST /person/login" -> logIn(exchange, new String(body, StandardCharsets.UTF_8));
      case "POST /api/person/fileuploadPerson" ->
          upload(exchange, body, 671_520, "upload_person_image", query.substring(10));
      case "POST /api/event/addEvent" ->
          upload(exchange, body, 669_128 + 129_617, "upload_event_literature", user);
      default -> answer(exchange, 200, page(path, query, body, user));
    }
  }

  private String page(String path, String query, byte[] body, String user) {
    if (path.equals("/tag/display")) {
      String form = new String(body, StandardCharsets.UTF_8);
      return calendar.tagged(parameter(query.isEmpty() ? form : query, "tag"), user);
    }
    return switch (path) {
      case "/event/detail" -> calendar.event(parameter(query, "socialEventID"), user);
      case "/api/event/addAttendee" ->
          calendar.attend(parameter(query, "socialEventID"), String.valueOf(user));
      case "/person" -> calendar.person(parameter(query, "user_name"), user);
      default -> path.startsWith("/access-artifacts/") ? "picture" : calendar.home(user);
    };
  }

  private void logIn(HttpExchange exchange, String form) throws IOException {
    String session = UUID.randomUUID().toString();
    sessions.put(session, parameter(form, "user_name"));
    exchange.getResponseHeaders().add("Set-Cookie", "JSESSIONID=" + session + "; Path=/");
    redirect(exchange, url() + "/olio/event/list?from=login");
  }

  private void upload(HttpExchange exchange, byte[] body, int files, String last, String user)
      throws IOException {
    String text = new String(body, StandardCharsets.ISO_8859_1);
    boolean whole = text.contains("name=\"" + last + "\"") && body.length > files;
    if (!whole || user == null) {
      answer(exchange, BAD, "not what was to be sent");
    } else if (last.equals("upload_person_image")) {
      answer(exchange, 200, calendar.person(user, null));
    } else {
      redirect(exchange, "/olio/event/detail?socialEventID=1&from=add-event");
    }
  }

  private static String session(HttpExchange exchange) {
    String cookie = exchange.getRequestHeaders().getFirst("Cookie");
    return cookie == null ? null : cookie.replaceFirst("JSESSIONID=", "");
  }

  private static String parameter(String query, String name) {
    Matcher found = Pattern.compile("(?:^|&)" + name + "=([^&]*)").matcher(query);
    return found.find() ? found.group(1) : "";
  }

  private void count(String what) {
    served.computeIfAbsent(what, key -> new LongAdder()).increment();
  }

  private static void redirect(HttpExchange exchange, String location) throws IOException {
    exchange.getResponseHeaders().add("Location", location);
    answer(exchange, FOUND, "");
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    if (bytes.length > 0) {
      exchange.getResponseBody().write(bytes);
    }
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
