// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static dev.steelyard.loadgen.SettingsException.filled;
import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.needed;
import static dev.steelyard.loadgen.SettingsException.one;
import static java.util.Objects.requireNonNullElse;

import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.journey.Pause;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

/** What a step does in the place of a request: messages over a stream that it opens and closes. */
public final class StreamSpec {
  private static final Duration USUAL_LIMIT = Duration.ofSeconds(10);
  private static final Duration SHORTEST_LIMIT = Duration.ofMillis(1);
  private static final Duration LONGEST_LIMIT = Duration.ofMinutes(10);

  private StreamSpec() {}

  /**
   * Opens a WebSocket, sends texts and waits for the answers, closes it.
   *
   * @param headers of the request that opens it
   * @param protocol subprotocol that the server has to agree to, or several with commas; null for
   *     none
   * @param exchanges one after the other; given by the following where there is one
   * @param send see {@link Exchange}; null here and below once it was read
   */
  public record WebSocket(
      String path,
      Map<String, String> headers,
      String protocol,
      List<Exchange> exchanges,
      String send,
      String expect,
      Duration within,
      Map<String, JourneySpec.Save> save) {
    /** Fills in and checks. */
    public WebSocket {
      checkPath(path);
      headers = requireNonNullElse(headers, Map.of());
      one("expect, exchanges", expect, exchanges);
      if (exchanges == null) {
        exchanges = List.of(new Exchange(null, send, expect, within, save, null));
      } else if (send != null || within != null || (save != null && !save.isEmpty())) {
        throw new SettingsException(
            "exchanges", "excludes send, within and save: give them in each of the exchanges");
      }
      if (filled("exchanges", exchanges).stream().skip(1).anyMatch(each -> each.send() == null)) {
        throw new SettingsException(
            "exchanges", "hold one without send after the first: only that waits for nothing sent");
      }
      send = null;
      expect = null;
      within = null;
      save = null;
    }
  }

  /**
   * A text that is sent over a WebSocket, and the answer to it.
   *
   * @param operation what it is measured as; null for the name of the step
   * @param send the text; null for none
   * @param expect pattern that is found in the message awaited; those before it count for nothing
   * @param within how long to wait for it
   * @param save variable to where its value stands in that message
   * @param pause before the next operation; null for that of the step
   */
  public record Exchange(
      String operation,
      String send,
      String expect,
      Duration within,
      Map<String, JourneySpec.Save> save,
      Pause pause) {
    /** Fills in and checks. */
    public Exchange {
      if (operation != null) {
        Operation.checkName(operation);
      }
      JourneySpec.checkPattern("expect", needed("expect", expect));
      within = limit(within);
      save = fromMessage(save);
    }
  }

  /**
   * Server-sent events: opens a stream, waits for an event, closes it.
   *
   * @param headers of the request
   * @param expect pattern that is found in the event awaited, as Gatling shows events: JSON with
   *     the members event, data and id; those before it count for nothing
   * @param within how long to wait for it
   * @param save variable to where its value stands in that event
   */
  public record Events(
      String path,
      Map<String, String> headers,
      String expect,
      Duration within,
      Map<String, JourneySpec.Save> save) {
    /** Fills in and checks. */
    public Events {
      checkPath(path);
      JourneySpec.checkPattern("expect", needed("expect", expect));
      headers = requireNonNullElse(headers, Map.of());
      within = limit(within);
      save = fromMessage(save);
    }
  }

  /** All of a step that may hold {@code ${name}}. */
  static Stream<String> texts(JourneySpec.Step step) {
    WebSocket socket = step.websocket();
    if (socket != null) {
      return Stream.of(
              Stream.of(socket.path(), socket.protocol()),
              socket.headers().values().stream(),
              socket.exchanges().stream().map(Exchange::send))
          .flatMap(Function.identity())
          .filter(Objects::nonNull);
    }
    Events events = step.events();
    return events == null
        ? Stream.of()
        : Stream.concat(Stream.of(events.path()), events.headers().values().stream());
  }

  /** How long a step waits for each message, or for its event. */
  static Stream<Duration> limits(JourneySpec.Step step) {
    return step.websocket() != null
        ? step.websocket().exchanges().stream().map(Exchange::within)
        : Stream.ofNullable(step.events()).map(Events::within);
  }

  private static Duration limit(Duration given) {
    Duration limit = requireNonNullElse(given, USUAL_LIMIT);
    if (limit.compareTo(SHORTEST_LIMIT) < 0 || limit.compareTo(LONGEST_LIMIT) > 0) {
      throw must("within", limit.toMillis() + "ms", "a duration from 1ms to 10m");
    }
    return limit;
  }

  private static void checkPath(String path) {
    if (!needed("path", path).startsWith("/")) {
      throw must("path", path, "a path that begins with \"/\"");
    }
  }

  private static Map<String, JourneySpec.Save> fromMessage(Map<String, JourneySpec.Save> given) {
    Map<String, JourneySpec.Save> save = requireNonNullElse(given, Map.of());
    save.forEach(
        (name, each) -> {
          if (each.json() == null && each.regex() == null) {
            throw new SettingsException("save." + name, "must be by json or regex in a message");
          }
        });
    return save;
  }
}
