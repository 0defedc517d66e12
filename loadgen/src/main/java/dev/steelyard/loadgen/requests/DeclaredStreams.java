// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static io.gatling.javaapi.core.CoreDsl.doIf;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.regex;
import static io.gatling.javaapi.http.HttpDsl.sse;
import static io.gatling.javaapi.http.HttpDsl.ws;

import dev.steelyard.loadgen.journey.declared.JourneySpec;
import dev.steelyard.loadgen.journey.declared.Operation;
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
  private static final String NOT_OPENED = "the WebSocket was not opened: ";
  private static final String NOT_SENT = "the message was not sent: ";
  private static final String NO_EVENT = "no event came, or it has not what is saved";

  private static final Logger LOGGER = LoggerFactory.getLogger(DeclaredStreams.class);
  private static final String SOCKET = "socket";
  private static final String EVENTS = "events";

  /** From the cause to the operation that goes on with it at once, on the same thread. */
  private static final ThreadLocal<String> CAUSE = new ThreadLocal<>();

  private final DeclaredTexts texts;
  private final DeclaredChecks checks;
  private final OpenSockets sockets = new OpenSockets();

  DeclaredStreams(DeclaredTexts texts, DeclaredChecks checks) {
    this.texts = texts;
    this.checks = checks;
  }

  /**
   * Takes note of why a stream failed: Gatling tells that to its logger, and names no operation.
   *
   * @param cause of the operation that goes on on this thread
   */
  public static void noteCause(String cause) {
    CAUSE.set(cause);
  }

  /** One exchange: the first opens the socket, the last closes it, and one that failed as well. */
  ChainBuilder socket(Operation operation, Target target) {
    String name = operation.name();
    StreamSpec.Exchange exchange = operation.exchange();
    WsFrameCheck awaited =
        ws.checkTextMessage(name)
            .matching(regex(session -> exchange.expect()))
            .check(ofMessage(exchange.expect(), exchange.save()));
    ChainBuilder chain;
    if (operation.isFirst()) {
      WsConnectActionBuilder connect = connect(name, operation.step().websocket(), target);
      chain =
          exec(exchange.send() == null ? connect.await(exchange.within()).on(awaited) : connect)
              .exec(session -> tellFailure(session, name, NOT_OPENED, null));
    } else {
      chain = exec(sockets.takeUp(SOCKET));
    }
    if (exchange.send() != null) {
      Function<Session, String> message = texts.body(exchange.send(), null).function();
      var send = ws(name, SOCKET).sendText(message).await(exchange.within()).on(awaited);
      chain =
          chain.exec(
              doIf(session -> !session.isFailed())
                  .then(exec(send).exec(session -> tellFailure(session, name, NOT_SENT, null))));
    }
    ChainBuilder close = closing(SOCKET, exec(ws(name, SOCKET).close()));
    if (operation.isFirst() && operation.isLast()) {
      return chain.exec(close);
    }
    return chain
        .exec(operation.isLast() ? close : doIf(Session::isFailed).then(close))
        .exec(sockets.handBack(SOCKET));
  }

  private WsConnectActionBuilder connect(String name, StreamSpec.WebSocket socket, Target target) {
    Text url = texts.url(target.baseUrl().replaceFirst("^http", "ws"), socket.path());
    WsConnectActionBuilder connect =
        ws(name, SOCKET)
            .connect(url.function())
            .sign((request, session) -> Target.withCookiesOfStream(request, session, null));
    for (var each : socket.headers().entrySet()) {
      Text value = texts.header(each.getKey(), each.getValue());
      connect = connect.header(Target.header(each.getKey()), value.function());
    }
    if (socket.protocol() != null) {
      Text protocol = texts.header("Sec-WebSocket-Protocol", socket.protocol());
      connect = connect.subprotocol(protocol.function());
    }
    return connect;
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
            .sign(
                (request, session) ->
                    Target.withCookiesOfStream(request, session, events.within()));
    for (var each : events.headers().entrySet()) {
      Text value = texts.header(each.getKey(), each.getValue());
      get = get.header(Target.header(each.getKey()), value.function());
    }
    return exec(get.await(events.within()).on(awaited))
        .exec(session -> tellFailure(session, operation, "", NO_EVENT))
        .exec(closing(EVENTS, exec(sse(operation, EVENTS).close())));
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

  private static ChainBuilder closing(String name, ChainBuilder close) {
    return exec(doIf(session -> session.contains(name)).then(close))
        // One that could not be opened is still there.
        .exec(session -> session.contains(name) ? session.remove(name) : session);
  }

  /**
   * Tells why an operation failed.
   *
   * @param what is said before the cause
   * @param otherwise is said where none was noted; null if Gatling has told it
   */
  private static Session tellFailure(
      Session session, String operation, String what, String otherwise) {
    String cause = CAUSE.get();
    CAUSE.remove();
    if (session.isFailed() && (cause != null || otherwise != null)) {
      LOGGER.error("Request '{}' failed: {}", operation, cause == null ? otherwise : what + cause);
    }
    return session;
  }
}
