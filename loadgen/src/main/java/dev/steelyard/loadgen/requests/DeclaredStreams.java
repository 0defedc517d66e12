// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static io.gatling.javaapi.core.CoreDsl.doIf;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.regex;
import static io.gatling.javaapi.http.HttpDsl.sse;
import static io.gatling.javaapi.http.HttpDsl.ws;

import dev.steelyard.loadgen.journey.declared.JourneySpec;
import dev.steelyard.loadgen.journey.declared.StreamSpec;
import dev.steelyard.loadgen.requests.DeclaredTexts.Text;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.SseConnectActionBuilder;
import io.gatling.javaapi.http.SseMessageCheck;
import io.gatling.javaapi.http.WsConnectActionBuilder;
import io.gatling.javaapi.http.WsFrameCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** WebSockets and server-sent events of a declared journey, as Gatling's builders. */
public final class DeclaredStreams {
  /** What the logger of this class says where a WebSocket could not be opened. */
  public static final String NOT_OPENED = "the WebSocket was not opened";

  private static final Logger LOGGER = LoggerFactory.getLogger(DeclaredStreams.class);
  private static final String SOCKET = "socket";
  private static final String EVENTS = "events";

  private final DeclaredTexts texts;
  private final DeclaredChecks checks;

  DeclaredStreams(DeclaredTexts texts, DeclaredChecks checks) {
    this.texts = texts;
    this.checks = checks;
  }

  ChainBuilder socket(JourneySpec.Step step, Target target) {
    StreamSpec.WebSocket socket = step.websocket();
    String operation = step.operation();
    Text url = texts.url(target.baseUrl().replaceFirst("^http", "ws"), socket.path());
    WsFrameCheck awaited =
        ws.checkTextMessage(operation)
            .matching(regex(session -> socket.expect()))
            .check(ofMessage(socket.expect(), socket.save()));
    WsConnectActionBuilder connect =
        ws(operation, SOCKET).connect(url.function()).sign(Target::withCookiesOfStream);
    for (var each : socket.headers().entrySet()) {
      Text value = texts.header(each.getKey(), each.getValue());
      connect = connect.header(each.getKey(), value.function());
    }
    if (socket.protocol() != null) {
      Text protocol = texts.header("Sec-WebSocket-Protocol", socket.protocol());
      connect = connect.subprotocol(protocol.function());
    }
    ChainBuilder open =
        exec(socket.send() == null ? connect.await(socket.within()).on(awaited) : connect)
            .exec(session -> opened(session, operation));
    if (socket.send() != null) {
      Function<Session, String> message = texts.body(socket.send(), null).function();
      var send = ws(operation, SOCKET).sendText(message).await(socket.within()).on(awaited);
      open = open.exec(doIf(session -> !session.isFailed()).then(exec(send)));
    }
    return closing(open, SOCKET, exec(ws(operation, SOCKET).close()));
  }

  ChainBuilder events(JourneySpec.Step step, Target target) {
    StreamSpec.Events events = step.events();
    String operation = step.operation();
    SseMessageCheck awaited =
        sse.checkMessage(operation)
            .matching(regex(session -> events.expect()))
            .check(ofMessage(events.expect(), events.save()));
    SseConnectActionBuilder get =
        sse(operation, EVENTS)
            .get(texts.url(target.baseUrl(), events.path()).function())
            .sign(Target::withCookiesOfStream);
    for (var each : events.headers().entrySet()) {
      Text value = texts.header(each.getKey(), each.getValue());
      get = get.header(each.getKey(), value.function());
    }
    ChainBuilder open = exec(get.await(events.within()).on(awaited));
    return closing(open, EVENTS, exec(sse(operation, EVENTS).close()));
  }

  /** The moment at which it came, and what is kept of it. */
  private CheckBuilder[] ofMessage(String expected, Map<String, JourneySpec.Save> save) {
    List<CheckBuilder> all = new ArrayList<>();
    all.add(
        regex(session -> expected)
            .validate(
                "the message awaited",
                (value, session) -> {
                  CurrentUser.of(session).answered();
                  return value;
                }));
    save.forEach((name, each) -> all.add(checks.save(name, each)));
    return all.toArray(CheckBuilder[]::new);
  }

  private static ChainBuilder closing(ChainBuilder open, String name, ChainBuilder close) {
    return open.exec(doIf(session -> session.contains(name)).then(close))
        // One that could not be opened is still there.
        .exec(session -> session.contains(name) ? session.remove(name) : session);
  }

  /** Gatling names no operation when it tells its logger why a socket could not be opened. */
  private static Session opened(Session session, String operation) {
    if (session.isFailed()) {
      LOGGER.error("Request '{}' failed: {}", operation, NOT_OPENED);
    }
    return session;
  }
}
