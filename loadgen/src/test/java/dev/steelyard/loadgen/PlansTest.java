// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of journeys with forms, files, many matches and events, at a server that checks. */
class PlansTest {
  private static final String PAGE =
      """
      <a class="item" href="/ping/item/1">1</a><a class="item" href="/ping/item/2">2</a>
      <a class="item" href="/ping/item/3">3</a>
      <form id="order" method="post" action="send?x=1&amp;y=2">
        <input type="hidden" name="csrf" value="c&quot;1"><input type="hidden" name="empty" value="">
        <input name="name" value="nobody"><input type="checkbox" name="off" value="1">
        <input type="checkbox" name="on" value="1" checked>
        <select name="size"><option value="s">S</option><option value="m" selected>M</option></select>
        <input name="qty" value="5"><input type="text" name="note"><input type="image" name="go">
        <select name="colour"><option> Red </option><option>Blue</option></select>
      </form>
      <form id="find"><input type="hidden" name="in" value="all"><input name="q"></form>
      <form id="upload" method="post" action="/ping/upload" enctype="multipart/form-data">
        <input type="hidden" name="csrf" value="c2"><input type="file" name="file"></form>
      <form id="fields" method="post" action="/ping/fields" enctype="multipart/form-data">
        <input type="hidden" name="csrf" value="c3"><input name="name"></form>
      """;

  private static final String JOURNEY =
      """
      {"gzip": true,
       "variables": {"odd": {"choose": ["a b/c?d&e\\"f"]}, "lines": {"choose": ["a\\r\\nX-B: c"]}},
       "visits": {"v": {"steps": [
        {"operation": "page", "path": "/ping/page",
         "save": {"token": {"cookie": "XSRF"},
                  "any": {"css": "a.item", "attribute": "href", "which": "random"},
                  "second": {"css": "a.item", "attribute": "href", "which": 2},
                  "two": {"css": "a.item", "attribute": "href", "which": "last", "part": "/item/(\\\\d)"},
                  "last": {"regex": "item/(\\\\d)\\"", "which": "last"},
                  "all": {"css": "a.item", "which": "all"},
                  "fourth": {"css": "a.item", "which": 4, "optional": true}}},
        {"operation": "send", "submit": {"form": "#order", "fields": {"name": "${odd}"}},
         "headers": {"X-XSRF": "${token}"}, "check": {"status": 201}},
        {"if": {"missing": "fourth"}, "steps": [
          {"operation": "numbers", "path": "/ping/numbers?second=${second}&last=${last}${two}&all=${all}"}]},
        {"operation": "any", "path": "${any}"},
        {"each": "all", "as": "one", "steps": [{"operation": "each", "path": "/ping/each/${one}"}]},
        {"operation": "again", "path": "/ping/page"},
        {"operation": "find", "method": "GET", "submit": {"form": "#find", "fields": {"q": "${odd}"}}},
        {"operation": "again", "path": "/ping/page"},
        {"operation": "upload", "submit": {"form": "#upload"},
         "multipart": {"file": {"base64": "/wD+", "filename": "a.bin", "type": "application/x-a"}}},
        {"operation": "again", "path": "/ping/page"},
        {"operation": "fields", "submit": {"form": "#fields", "fields": {"name": "${odd}"}}},
        {"operation": "soap", "method": "POST", "path": "/ping/soap",
         "headers": {"Content-Type": "application/soap+xml; charset=utf-8"}, "body": "<q a='${odd}'/>"},
        {"operation": "json", "method": "POST", "path": "/ping/json", "body": "{\\"a\\": \\"${odd}\\"}"},
        {"operation": "path", "path": "/ping/path/${odd}?q=${odd}"},
        {"operation": "events", "events": {"path": "/ping/events", "headers": {"X-A": "${odd}"}, "expect": "right", "within": "600s",
         "save": {"event": {"regex": "right (\\\\d+)"}}}},
        {"operation": "saved", "path": "/ping/saved/${event}"},
        {"operation": "lines", "path": "/ping/saved/42", "headers": {"X-A": "${lines}"}, "optional": true},
        {"operation": "formless", "path": "/ping/saved/42"},
        {"operation": "none", "submit": {"form": "#order"}, "optional": true},
        {"operation": "again", "path": "/ping/page"},
        {"operation": "method", "submit": {"form": "#find"}}
      ]}}}
      """;

  private final Set<String> any = ConcurrentHashMap.newKeySet();

  @TempDir Path folder;

  private void serve(HttpExchange exchange) throws IOException {
    String asked = exchange.getRequestURI().toString();
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1);
    String type = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
    String odd = "a%20b%2Fc%3Fd%26e%22f";
    switch (asked.replaceFirst("^/ping/([a-z]+).*", "$1")) {
      case "page" -> page(exchange);
      case "events" -> events(exchange);
      case "item" -> {
        any.add(asked);
        PingServer.answer(exchange, 200, "item");
      }
      case "send" -> {
        String sent = "name=a+b%2Fc%3Fd%26e%22f";
        boolean right =
            asked.equals("/ping/send?x=1&y=2")
                && Set.of(body.split("&"))
                    .equals(
                        Set.of(
                            "csrf=c%221",
                            "empty=", sent, "on=1", "size=m", "qty=5", "note=", "colour=Red"))
                && "t 1".equals(exchange.getRequestHeaders().getFirst("X-XSRF"));
        PingServer.answer(exchange, right ? 201 : 400, asked + " " + body);
      }
      case "upload" -> {
        boolean right =
            type.startsWith("multipart/form-data")
                && body.contains("name=\"csrf\"")
                && body.contains("\r\n\r\nc2\r\n")
                && body.contains("filename=\"a.bin\"")
                && body.contains("application/x-a")
                && body.contains("\r\n\r\n\u00ff\u0000\u00fe\r\n");
        PingServer.answer(exchange, right ? 200 : 400, body);
      }
      case "fields" -> {
        String part = "\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n--";
        boolean right =
            type.startsWith("multipart/form-data; boundary=")
                && body.contains(part.formatted("csrf", "c3"))
                && body.contains(part.formatted("name", "a b/c?d&e\"f"));
        PingServer.answer(exchange, right ? 200 : 400, type + " " + body);
      }
      case "saved" -> {
        String cookie = String.valueOf(exchange.getRequestHeaders().getFirst("Cookie"));
        boolean right = asked.equals("/ping/saved/42") && cookie.contains("stream=7");
        PingServer.answer(exchange, right ? 200 : 400, asked + " " + cookie);
      }
      case "soap" -> {
        boolean right = body.equals("<q a='a b/c?d&amp;e&quot;f'/>");
        PingServer.answer(exchange, right ? 200 : 400, body);
      }
      default -> {
        boolean right =
            Set.of(
                    "/ping/numbers?second=%2Fping%2Fitem%2F2&last=33&all=1%2C2%2C3",
                    "/ping/each/1",
                    "/ping/each/2",
                    "/ping/each/3",
                    "/ping/path/" + odd + "?q=" + odd)
                .contains(asked);
        right |= asked.equals("/ping/json") && body.equals("{\"a\": \"a b/c?d&e\\\"f\"}");
        PingServer.answer(exchange, right ? 200 : 400, asked + " " + body);
      }
    }
  }

  private static void page(HttpExchange exchange) throws IOException {
    String query = exchange.getRequestURI().getRawQuery();
    boolean found =
        query == null
            || List.of(query.split("&")).stream()
                .map(each -> URLDecoder.decode(each, StandardCharsets.UTF_8))
                .collect(Collectors.toSet())
                .equals(Set.of("in=all", "q=a b/c?d&e\"f"));
    boolean packed = "gzip".equals(exchange.getRequestHeaders().getFirst("Accept-Encoding"));
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (OutputStream zip = new GZIPOutputStream(body)) {
      zip.write(PAGE.getBytes(StandardCharsets.UTF_8));
    }
    exchange.getResponseHeaders().set("Content-Encoding", "gzip");
    exchange.getResponseHeaders().add("Set-Cookie", "XSRF=t 1; Path=/");
    exchange.sendResponseHeaders(packed && found ? 200 : 400, body.size());
    exchange.getResponseBody().write(body.toByteArray());
    exchange.close();
  }

  private static void events(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.getResponseHeaders().add("Set-Cookie", "stream=7; Path=/ping/saved");
    boolean right = "a b/c?d&e\"f".equals(exchange.getRequestHeaders().getFirst("X-A"));
    exchange.sendResponseHeaders(right ? 200 : 400, 0);
    for (String text : List.of("wrong 41", "right 42", "right 43")) {
      exchange.getResponseBody().write(("data: " + text + "\n\n").getBytes(StandardCharsets.UTF_8));
      exchange.getResponseBody().flush();
    }
    exchange.close();
  }

  @Test
  void formsFilesMatchesAndEvents() throws Exception {
    try (PingServer server = new PingServer(this::serve)) {
      ObjectNode settings = Injector.settings(folder, List.of(server.url()));
      settings.set("journey", Injector.json(JOURNEY));
      Injector injector =
          Injector.runUntil(settings, "load came", () -> server.served() > 600 && any.size() == 3);
      JsonNode operations = injector.summary().get("operations");
      for (String operation :
          List.of("page", "send", "numbers", "any", "each", "find", "upload", "fields", "soap")) {
        assertRight(operations, operation, injector);
      }
      for (String operation : List.of("json", "path", "events", "saved", "again", "formless")) {
        assertRight(operations, operation, injector);
      }
      String messages = injector.summary().get("errorMessages").toString();
      for (String told :
          List.of(
              "the page before has no form #order",
              "the value of the header X-A has a line end, and was not sent",
              "the form #find is sent by GET: give the step this method")) {
        assertTrue(messages.contains(told), () -> told + " is not in " + messages);
      }
    }
  }

  private static void assertRight(JsonNode operations, String operation, Injector injector) {
    JsonNode each = operations.get(operation);
    assertTrue(each.get("requests").asLong() > 3, () -> operation + " " + injector.console());
    assertEquals(0, each.get("errors").asLong(), () -> operation + " " + injector.console());
  }
}
