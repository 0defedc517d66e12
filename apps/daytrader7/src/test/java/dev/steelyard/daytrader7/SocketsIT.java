// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.Waiting;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The websockets, as clients see them. */
@Tag("full")
@ExtendWith(TradeServer.Shared.class)
final class SocketsIT {

  private static final String UPDATE = "{\"action\":\"update\"}";
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @Test
  void aSummaryIsAnsweredInTheOrderOfTheDriversKeys(TradeServer server) throws Exception {
    server.configure(RunMode.EJB, OrderMode.SYNC);
    try (Client client = new Client(server, "marketsummary")) {
      client.send("{\"action\":\"dance\"}");
      client.send("no JSON");
      client.send("[]");
      client.send(UPDATE);
      String text = client.next(Client::isReply);
      JsonObject reply = json(text);
      List<String> keys = new ArrayList<>(reply.keySet());
      assertEquals(List.of("gainer1_stock", "gainer1_price", "gainer1_change"), keys.subList(0, 3));
      assertEquals("loser5_change", keys.get(29));
      assertEquals(List.of("tsia", "volume", "date"), keys.subList(30, 33));
      assertTrue(reply.getString("gainer1_price").matches("\\$\\d+\\.\\d\\d"), text);
      assertTrue(reply.getJsonNumber("tsia").doubleValue() > 0, text);
      assertTrue(reply.getString("date").matches("\\d{4}-\\d\\d-\\d\\d"), text);
    }
  }

  @Test
  void changesAreToldToAllWhileTheyAskAndNoAnswerIsLost(TradeServer server) throws Exception {
    server.configure(RunMode.EJB, OrderMode.SYNC);
    String cookie = login(server, "uid:150");
    List<Client> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 8; i++) {
        clients.add(new Client(server, "marketsummary", cookie));
      }
      for (int round = 0; round < 100; round++) {
        if (round % 10 == 0) {
          app(server, cookie, "action=buy&symbol=s:" + round + "&quantity=1");
        }
        // Without waiting in between, so that answers and what is told meet.
        for (Client client : clients) {
          client.send(UPDATE);
        }
      }
      for (Client client : clients) {
        for (int round = 0; round < 100; round++) {
          client.next(Client::isReply);
        }
      }
      app(server, cookie, "action=logout");
      String other = login(server, "uid:151");
      app(server, other, "action=buy&symbol=s:30&quantity=1");
      for (Client client : clients) {
        String told = client.next(text -> text.contains("\"change1_stock\":\"s:30\""));
        assertTrue(json(told).getString("change1_change").matches("-?\\d+\\.\\d\\d"), told);
      }
    } finally {
      clients.forEach(Client::close);
    }
  }

  @Test
  void textAndBytesAreAnswered(TradeServer server) throws Exception {
    for (String endpoint : List.of("pingTextSync", "pingTextAsync")) {
      try (Client client = new Client(server, endpoint)) {
        client.send("one");
        long first = Long.parseLong(client.next(text -> true));
        client.send("two");
        assertEquals(first + 1, Long.parseLong(client.next(text -> true)));
      }
    }
    try (Client client = new Client(server, "pingBinary")) {
      client.socket.sendBinary(ByteBuffer.wrap(new byte[] {1, 2, 3}), true).join();
      assertEquals("010203", client.next(text -> true));
    }
  }

  @Test
  void objectsAreAnsweredWhileTheServerTellsItsOwn(TradeServer server) throws Exception {
    try (Client client = new Client(server, "pingWebSocketJson")) {
      client.send("{\"key\":\"a\",\"value\":\"b\"}");
      String received = client.next(text -> text.contains("receivedHitCount"));
      assertEquals("1", value(received));
      // Where the machine stalled, more than one of its own came before the answer.
      client.next(text -> text.contains("sentHitCount") && Integer.parseInt(value(text)) >= 3);
      assertFalse(client.socket.isInputClosed());
    }
  }

  private static String login(TradeServer server, String user)
      throws IOException, InterruptedException {
    HttpResponse<String> response =
        server
            .packaged()
            .send(
                HttpRequest.newBuilder(
                    server.packaged().uri("/daytrader/app?action=login&passwd=xxx&uid=" + user)));
    assertEquals(200, response.statusCode(), response::body);
    return response.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
  }

  private static void app(TradeServer server, String cookie, String query)
      throws IOException, InterruptedException {
    HttpResponse<String> response =
        server
            .packaged()
            .send(
                HttpRequest.newBuilder(server.packaged().uri("/daytrader/app?" + query))
                    .header("Cookie", cookie));
    assertEquals(200, response.statusCode(), response::body);
  }

  private static String value(String text) {
    return json(text).getString("value");
  }

  private static JsonObject json(String text) {
    try (JsonReader reader = Json.createReader(new StringReader(text))) {
      return reader.readObject();
    }
  }

  /** A client of an endpoint, which keeps what it gets; bytes as hexadecimal digits. */
  private static final class Client implements WebSocket.Listener, AutoCloseable {

    private final Queue<String> received = new ConcurrentLinkedQueue<>();
    private final StringBuilder parts = new StringBuilder();
    private final WebSocket socket;

    Client(TradeServer server, String endpoint, String... cookies) {
      URI http = server.packaged().uri("/daytrader/" + endpoint);
      WebSocket.Builder builder = HTTP.newWebSocketBuilder();
      for (String cookie : cookies) {
        builder.header("Cookie", cookie);
      }
      socket =
          builder.buildAsync(URI.create(http.toString().replaceFirst("http", "ws")), this).join();
    }

    static boolean isReply(String text) {
      return text.startsWith("{\"gainer1_stock\"");
    }

    void send(String text) {
      socket.sendText(text, true).join();
    }

    /** The next message of a kind; others before it are passed over. */
    String next(Predicate<String> wanted) throws IOException, InterruptedException {
      while (true) {
        Waiting.await("the message came", () -> !received.isEmpty());
        String text = received.remove();
        if (wanted.test(text)) {
          return text;
        }
      }
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      parts.append(data);
      if (last) {
        received.add(parts.toString());
        parts.setLength(0);
      }
      from.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean last) {
      byte[] bytes = new byte[data.remaining()];
      data.get(bytes);
      received.add(HexFormat.of().formatHex(bytes));
      from.request(1);
      return null;
    }

    @Override
    public void close() {
      socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
    }
  }
}
