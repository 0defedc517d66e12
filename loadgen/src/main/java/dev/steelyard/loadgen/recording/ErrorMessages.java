// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.LoggerFactory;

/**
 * The first distinct messages of failed requests, with their counts, for the person who asks what
 * went wrong.
 *
 * <p>Gatling tells a request's cause of failure to its logger only, so this listens there. Counts
 * of errors never come from here: they are taken in the scenario itself.
 */
public final class ErrorMessages extends AppenderBase<ILoggingEvent> {
  private static final String SOURCE = "io.gatling.http.engine.response";
  private static final String WRONG_ANSWER = WrongAnswer.class.getSimpleName() + ": ";
  private static final int ARGUMENTS = 3;
  private static final int MAX_DISTINCT = 10;
  private static final int MAX_LENGTH = 300;
  private static final Failure OTHER = new Failure("*", "other messages");

  /** One kind of failure and how often it was seen. */
  public record Counted(String operation, String message, long count) {}

  private record Failure(String operation, String message) {}

  private final Map<Failure, Long> counts = new LinkedHashMap<>();

  /** Starts to listen. */
  public static ErrorMessages listen() {
    Logger logger = (Logger) LoggerFactory.getLogger(SOURCE);
    ErrorMessages messages = new ErrorMessages();
    messages.setContext(logger.getLoggerContext());
    messages.start();
    logger.setLevel(Level.DEBUG);
    logger.setAdditive(false);
    logger.addAppender(messages);
    return messages;
  }

  /**
   * "Request '{}' failed for user {}: {}"; the dump of the request that follows it has no
   * arguments.
   */
  @Override
  protected void append(ILoggingEvent event) {
    Object[] arguments = event.getArgumentArray();
    if (arguments == null || arguments.length != ARGUMENTS) {
      return;
    }
    String message = ownWords(String.valueOf(arguments[2]));
    if (message.length() > MAX_LENGTH) {
      message = message.substring(0, MAX_LENGTH);
    }
    Failure failure = new Failure(String.valueOf(arguments[0]), message);
    synchronized (counts) {
      boolean room = counts.containsKey(failure) || counts.size() < MAX_DISTINCT;
      counts.merge(room ? failure : OTHER, 1L, Long::sum);
    }
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
