// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.testkit.PackagedServer;
import dev.steelyard.testkit.Waiting;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

/** A client of an endpoint, which keeps what it gets; bytes as hexadecimal digits. */
final class SocketClient implements WebSocket.Listener, AutoCloseable {

  /** Asks for the market summary. */
  static final String UPDATE = "{\"action\":\"update\"}";

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final Queue<String> received = new ConcurrentLinkedQueue<>();
  private final StringBuilder parts = new StringBuilder();
  private final WebSocket socket;

  SocketClient(PackagedServer server, String endpoint, String... cookies) {
    URI http = server.uri("/daytrader/" + endpoint);
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

  void send(byte[] bytes) {
    socket.sendBinary(ByteBuffer.wrap(bytes), true).join();
  }

  /** Whether the server may still send. */
  boolean isOpen() {
    return !socket.isInputClosed();
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
