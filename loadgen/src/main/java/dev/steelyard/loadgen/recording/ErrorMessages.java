// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.requests.DeclaredRequests;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.LoggerFactory;

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
  private static final String SOCKETS = "io.gatling.http.action.ws.fsm.WsConnectingState";

  /** "Request '{}' failed: {}". */
  private static final String KEPT_SOCKETS = "dev.steelyard.loadgen.requests.KeptSockets";

  private static final String OWN = DeclaredRequests.class.getName();

  /** From the cause to the operation that goes on with it at once, on the same thread. */
  private static final ThreadLocal<String> UNOPENED = new ThreadLocal<>();

  private static final String WRONG_ANSWER = WrongAnswer.class.getSimpleName() + ": ";
  private static final int MAX_DISTINCT = 10;
  private static final int MAX_LENGTH = 300;
  private static final Failure OTHER = new Failure("*", "other messages");

  /** One kind of failure and how often it was seen. */
  public record Counted(String operation, String message, long count) {}

  private record Failure(String operation, String message) {}

  private final Map<Failure, Long> counts = new LinkedHashMap<>();

  /** Starts to listen. */
  public static ErrorMessages listen() {
    ErrorMessages messages = new ErrorMessages();
    for (String source : List.of(ANSWERS, REQUESTS, SOCKETS, OWN, KEPT_SOCKETS)) {
      Logger logger = (Logger) LoggerFactory.getLogger(source);
      messages.setContext(logger.getLoggerContext());
      messages.start();
      logger.setLevel(List.of(ANSWERS, SOCKETS).contains(source) ? Level.DEBUG : Level.ERROR);
      logger.setAdditive(false);
      logger.addAppender(messages);
    }
    return messages;
  }

  /** The operation is the first argument, and what went wrong the last. */
  @Override
  protected void append(ILoggingEvent event) {
    Object[] arguments = event.getArgumentArray();
    if (event.getLoggerName().equals(SOCKETS)) {
      if (event.getThrowableProxy() != null) {
        UNOPENED.set(rootMessage(event.getThrowableProxy()));
      }
      return;
    }
    if (arguments == null || arguments.length < 2) {
      return;
    }
    String message = ownWords(String.valueOf(arguments[arguments.length - 1]));
    if (event.getLoggerName().equals(OWN)) {
      if (UNOPENED.get() == null) {
        // It was open: what failed then has been told.
        return;
      }
      message += ": " + UNOPENED.get();
      UNOPENED.remove();
    }
    if (message.length() > MAX_LENGTH) {
      message = message.substring(0, MAX_LENGTH);
    }
    Failure failure = new Failure(String.valueOf(arguments[0]), message);
    synchronized (counts) {
      boolean room = counts.containsKey(failure) || counts.size() < MAX_DISTINCT;
      counts.merge(room ? failure : OTHER, 1L, Long::sum);
    }
  }

  private static String rootMessage(IThrowableProxy failure) {
    return failure.getCause() != null
        ? rootMessage(failure.getCause())
        : Objects.requireNonNullElse(failure.getMessage(), failure.getClassName());
  }

  /** Gatling puts the check and the class of the exception before what a journey says. */
  private static String ownWords(String message) {
    int at = message.indexOf(WRONG_ANSWER);
    return at < 0 ? message : message.substring(at + WRONG_ANSWER.length());
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
