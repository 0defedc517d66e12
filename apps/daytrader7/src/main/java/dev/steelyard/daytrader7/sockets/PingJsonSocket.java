// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.sockets;

import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedScheduledExecutorService;
import jakarta.enterprise.context.Dependent;
import jakarta.inject.Inject;
import jakarta.json.JsonException;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.websocket.DecodeException;
import jakarta.websocket.Decoder;
import jakarta.websocket.Encoder;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.OnClose;
import jakarta.websocket.OnError;
import jakarta.websocket.OnMessage;
import jakarta.websocket.OnOpen;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;
import java.io.StringReader;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * {@code /pingWebSocketJson}: objects by an encoder and a decoder. Answers with the number of
 * messages it received, and tells by itself, from a managed thread, how many it has sent.
 */
@Dependent
@ServerEndpoint(
    value = "/pingWebSocketJson",
    encoders = PingJsonSocket.Coder.class,
    decoders = PingJsonSocket.Coder.class)
public class PingJsonSocket {

  private static final long FIRST_MS = 500;
  private static final long PERIOD_MS = 100;
  private static final int MOST_WAITING = 10;

  @Resource private ManagedScheduledExecutorService scheduler;
  @Inject private Outbox outbox;

  private Future<?> telling;
  private long received;
  private long sent;

  /** A name and its value. */
  public record Message(String key, String value) {}

  /** Text of JSON from and to messages. */
  public static final class Coder implements Encoder.Text<Message>, Decoder.Text<Message> {

    @Override
    public String encode(Message message) {
      return SummaryJson.JSON
          .createObjectBuilder()
          .add("key", message.key())
          .add("value", message.value())
          .build()
          .toString();
    }

    @Override
    public Message decode(String text) throws DecodeException {
      try (JsonReader reader = SummaryJson.JSON.createReader(new StringReader(text))) {
        JsonObject json = reader.readObject();
        return new Message(json.getString("key"), json.getString("value"));
      } catch (JsonException | NullPointerException | ClassCastException e) {
        throw new DecodeException(text, "No object with texts as key and value", e);
      }
    }

    @Override
    public void init(EndpointConfig config) {}

    @Override
    public void destroy() {}

    @Override
    public boolean willDecode(String text) {
      return text.stripLeading().startsWith("{");
    }
  }

  /** Begins to tell. */
  @OnOpen
  public void open(Session session) {
    outbox.open(session);
    telling = scheduler.scheduleAtFixedRate(this::tell, FIRST_MS, PERIOD_MS, TimeUnit.MILLISECONDS);
  }

  private void tell() {
    if (outbox.size() < MOST_WAITING) {
      outbox.send(new Message("sentHitCount", Long.toString(++sent)));
    }
  }

  /** Answers. */
  @OnMessage
  public void ping(Message message) {
    outbox.send(new Message("receivedHitCount", Long.toString(++received)));
  }

  /** Ends what was begun. */
  @OnClose
  public void close() {
    telling.cancel(false);
  }

  /** A message that is no object of ours is none to be answered; the connection stays. */
  @OnError
  public void error(Throwable cause) {}
}
