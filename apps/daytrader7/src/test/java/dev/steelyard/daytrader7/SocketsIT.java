// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The websockets, as clients see them. */
@Tag("full")
@ExtendWith(TradeServer.Shared.class)
final class SocketsIT {

  @Test
  void aSummaryIsAnsweredInTheOrderOfTheDriversKeys(TradeServer server) throws Exception {
    server.configure(RunMode.EJB, OrderMode.SYNC);
    try (SocketClient client = new SocketClient(server.packaged(), "marketsummary")) {
      client.send("{\"action\":\"dance\"}");
      client.send("no JSON");
      client.send("[]");
      client.send(SocketClient.UPDATE);
      String text = client.next(SocketClient::isReply);
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
    List<SocketClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 8; i++) {
        clients.add(new SocketClient(server.packaged(), "marketsummary", cookie));
      }
      for (int round = 0; round < 100; round++) {
        if (round % 10 == 0) {
          app(server, cookie, "action=buy&symbol=s:" + round + "&quantity=1");
        }
        // Without waiting in between, so that answers and what is told meet.
        for (SocketClient client : clients) {
          client.send(SocketClient.UPDATE);
        }
      }
      for (SocketClient client : clients) {
        for (int round = 0; round < 100; round++) {
          client.next(SocketClient::isReply);
        }
      }
      app(server, cookie, "action=logout");
      String other = login(server, "uid:151");
      app(server, other, "action=buy&symbol=s:30&quantity=1");
      for (SocketClient client : clients) {
        String told = client.next(text -> text.contains("\"change1_stock\":\"s:30\""));
        assertTrue(json(told).getString("change1_change").matches("-?\\d+\\.\\d\\d"), told);
      }
    } finally {
      clients.forEach(SocketClient::close);
    }
  }

  @Test
  void textAndBytesAreAnswered(TradeServer server) throws Exception {
    for (String endpoint : List.of("pingTextSync", "pingTextAsync")) {
      try (SocketClient client = new SocketClient(server.packaged(), endpoint)) {
        client.send("one");
        long first = Long.parseLong(client.next(text -> true));
        client.send("two");
        assertEquals(first + 1, Long.parseLong(client.next(text -> true)));
      }
    }
    try (SocketClient client = new SocketClient(server.packaged(), "pingBinary")) {
      client.send(new byte[] {1, 2, 3});
      assertEquals("010203", client.next(text -> true));
    }
  }

  @Test
  void objectsAreAnsweredWhileTheServerTellsItsOwn(TradeServer server) throws Exception {
    try (SocketClient client = new SocketClient(server.packaged(), "pingWebSocketJson")) {
      client.send("{\"key\":\"a\",\"value\":\"b\"}");
      String received = client.next(text -> text.contains("receivedHitCount"));
      assertEquals("1", value(received));
      // Where the machine stalled, more than one of its own came before the answer.
      client.next(text -> text.contains("sentHitCount") && Integer.parseInt(value(text)) >= 3);
      assertTrue(client.isOpen());
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
}
