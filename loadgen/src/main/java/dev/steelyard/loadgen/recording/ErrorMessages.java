// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.spi.FilterReply;
import dev.steelyard.loadgen.client.HeldBodies;
import dev.steelyard.loadgen.client.Unanswered;
import dev.steelyard.loadgen.client.UnfinishedAnswer;
import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.requests.DeclaredStreams;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * The first distinct messages of failed requests, with their counts, for the person who asks what
 * went wrong.
 *
 * <p>Gatling tells a request's cause of failure to its logger only, so this listens there. Counts
 * of errors never come from here: they are taken in the scenario itself.
 */
public final class ErrorMessages extends AppenderBase<ILoggingEvent> {
  /** "Request '{}' failed for user {}: {}", with a dump of the request that has no arguments. */
  private static final String ANSWERS = "io.gatling.http.engine.response";

  /** "Failed to build request {}: {}", as when a value is missing that it was to send. */
  private static final String REQUESTS = "io.gatling.http.action.HttpRequestAction";

  /** "WebSocket crashed ... in Connecting state", with the cause, and then who wanted it. */
  private static final String CONNECTING = "io.gatling.http.action.ws.fsm.WsConnectingState";

  /** "Client issued a text frame but WebSocket was already ...", and then who sent it. */
  private static final String CRASHED = "io.gatling.http.action.ws.fsm.WsCrashedState";

  /** "Sse stream crashed", with the cause, and "End of stream reached while in state Connected." */
  private static final String EVENTS = "io.gatling.http.action.sse.fsm.SseStream";

  private static final String STREAM_ENDED = "End of stream reached while in state Connected";

  private static final List<String> STREAMS = List.of(CONNECTING, CRASHED, EVENTS);
  private static final String FRAME_REFUSED = "Client issued a text frame but ";

  /** "Request '{}' failed: {}". */
  private static final String KEPT_SOCKETS = "dev.steelyard.loadgen.requests.KeptSockets";

  private static final String DECLARED_STREAMS = DeclaredStreams.class.getName();

  /** "Fatal error", with an error of the JVM, before Gatling ends the process. */
  private static final String CLIENT = "io.gatling.http.client.impl.HttpAppHandler";

  /** "A task raised an exception": whatever user the task was of is lost. */
  private static final String TASKS = "io.netty.util.concurrent.AbstractEventExecutor";

  /** What Gatling puts before messages of ours. */
  private static final List<String> OWN_CLASSES =
      Stream.of(WrongAnswer.class, Unanswered.class, UnfinishedAnswer.class)
          .map(type -> type.getSimpleName() + ": ")
          .toList();

  private static final int MAX_DISTINCT = 10;
  private static final int MAX_LENGTH = 300;
  private static final Failure OTHER = new Failure("*", "other messages");

  /** One kind of failure and how often it was seen. */
  public record Counted(String operation, String message, long count) {}

  private record Failure(String operation, String message) {}

  private final Map<Failure, Long> counts = new LinkedHashMap<>();
  private volatile String last;
  private final Map<String, Long> unanswered = new HashMap<>();

  /** Starts to listen. */
  public static ErrorMessages listen() {
    quietenTracing();
    ErrorMessages messages = new ErrorMessages();
    Set<String> debugged = new HashSet<>(STREAMS);
    debugged.add(ANSWERS);
    Set<String> sources = new HashSet<>(debugged);
    sources.addAll(List.of(REQUESTS, DECLARED_STREAMS, KEPT_SOCKETS, CLIENT, TASKS));
    for (String source : sources) {
      Logger logger = (Logger) LoggerFactory.getLogger(source);
      messages.setContext(logger.getLoggerContext());
      messages.start();
      logger.setLevel(debugged.contains(source) ? Level.DEBUG : Level.ERROR);
      logger.setAdditive(false);
      logger.addAppender(messages);
    }
    return messages;
  }

  /**
   * Gatling looks once whether it is traced. If it is to debug, it keeps the body of every answer;
   * if it is not to trace, it writes down the whole of each failed request, body included, for a
   * logger that only wants the message: so it is told the opposite of both.
   */
  private static void quietenTracing() {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    TurboFilter onlyTrace =
        new TurboFilter() {
          @Override
          public FilterReply decide(
              Marker marker,
              Logger logger,
              Level level,
              String format,
              Object[] params,
              Throwable thrown) {
            return level == Level.TRACE ? FilterReply.ACCEPT : FilterReply.DENY;
          }
        };
    onlyTrace.start();
    context.addTurboFilter(onlyTrace);
    try {
      Class.forName("io.gatling.http.engine.response.HttpTracing");
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("Gatling has changed", e);
    } finally {
      context.getTurboFilterList().remove(onlyTrace);
    }
  }

  /** The operation is the first argument, and what went wrong the last. */
  @Override
  protected void append(ILoggingEvent event) {
    Object[] arguments = event.getArgumentArray();
    if (STREAMS.contains(event.getLoggerName())) {
      String cause = streamFailure(event);
      if (cause != null) {
        DeclaredStreams.noteCause(cause);
      }
      return;
    }
    if (List.of(CLIENT, TASKS).contains(event.getLoggerName())) {
      if (event.getThrowableProxy() instanceof ThrowableProxy fatal) {
        HeldBodies.reportFailure(fatal.getThrowable());
      }
      return;
    }
    if (arguments == null || arguments.length < 2) {
      return;
    }
    String message = ownWords(String.valueOf(arguments[arguments.length - 1]));
    if (message.startsWith(Unanswered.BEGINNING)) {
      synchronized (counts) {
        unanswered.merge(String.valueOf(arguments[0]), 1L, Long::sum);
      }
    }
    message = shortened(message);
    Failure failure = new Failure(String.valueOf(arguments[0]), message);
    last = message;
    synchronized (counts) {
      boolean room = counts.containsKey(failure) || counts.size() < MAX_DISTINCT;
      counts.merge(room ? failure : OTHER, 1L, Long::sum);
    }
  }

  private static String shortened(String message) {
    if (message.length() <= MAX_LENGTH) {
      return message;
    }
    boolean splits = Character.isHighSurrogate(message.charAt(MAX_LENGTH - 1));
    return message.substring(0, splits ? MAX_LENGTH - 1 : MAX_LENGTH);
  }

  private static String streamFailure(ILoggingEvent event) {
    String message = event.getMessage();
    if (event.getLoggerName().equals(CRASHED)) {
      return message.startsWith(FRAME_REFUSED) ? message.substring(FRAME_REFUSED.length()) : null;
    }
    if (message.startsWith(STREAM_ENDED)) {
      return "the stream ended before the event came";
    }
    return event.getThrowableProxy() == null ? null : rootMessage(event.getThrowableProxy());
  }

  private static String rootMessage(IThrowableProxy failure) {
    return failure.getCause() != null
        ? rootMessage(failure.getCause())
        : Objects.requireNonNullElse(failure.getMessage(), failure.getClassName());
  }

  /** Gatling puts the check and the class of the exception before what a journey says. */
  private static String ownWords(String message) {
    for (String own : OWN_CLASSES) {
      int at = message.indexOf(own);
      if (at >= 0) {
        return message.substring(at + own.length());
      }
    }
    return message;
  }

  /** Forgets what was heard so far. */
  void clear() {
    last = null;
    synchronized (counts) {
      counts.clear();
      unanswered.clear();
    }
  }

  /** The newest message since the last call, or null. */
  String takeLast() {
    String taken = last;
    last = null;
    return taken;
  }

  /** How many requests of an operation had their connection end before an answer began. */
  long unanswered(String operation) {
    synchronized (counts) {
      return unanswered.getOrDefault(operation, 0L);
    }
  }

  /** What was heard so far, in the order of first appearance. */
  public List<Counted> counted() {
    List<Counted> result = new ArrayList<>();
    synchronized (counts) {
      counts.forEach(
          (failure, count) ->
              result.add(new Counted(failure.operation(), failure.message(), count)));
    }
    return result;
  }
}
