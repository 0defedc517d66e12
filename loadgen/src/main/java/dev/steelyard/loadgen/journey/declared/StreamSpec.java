// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.needed;
import static java.util.Objects.requireNonNullElse;

import dev.steelyard.loadgen.SettingsException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** What a step does in the place of a request: a message over a stream that it opens and closes. */
public final class StreamSpec {
  private StreamSpec() {}

  /**
   * Opens a WebSocket, sends a text, waits for one, closes it.
   *
   * @param headers of the request that opens it
   * @param protocol subprotocol that the server has to agree to, or several with commas; null for
   *     none
   * @param send the text; null for none
   * @param expect pattern that is found in the message awaited; those before it count for nothing
   * @param within how long to wait for it
   * @param save variable to where its value stands in that message
   */
  public record WebSocket(
      String path,
      Map<String, String> headers,
      String protocol,
      String send,
      String expect,
      Duration within,
      Map<String, JourneySpec.Save> save) {
    /** Fills in and checks. */
    public WebSocket {
      checkStream(path, expect);
      headers = requireNonNullElse(headers, Map.of());
      within = requireNonNullElse(within, Duration.ofSeconds(10));
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
      checkStream(path, expect);
      headers = requireNonNullElse(headers, Map.of());
      within = requireNonNullElse(within, Duration.ofSeconds(10));
      save = fromMessage(save);
    }
  }

  /** All of a step that may hold {@code ${name}}. */
  static Stream<String> texts(JourneySpec.Step step) {
    WebSocket socket = step.websocket();
    if (socket != null) {
      return Stream.concat(
          Stream.of(socket.path(), socket.send(), socket.protocol()).filter(Objects::nonNull),
          socket.headers().values().stream());
    }
    Events events = step.events();
    return events == null
        ? Stream.of()
        : Stream.concat(Stream.of(events.path()), events.headers().values().stream());
  }

  private static void checkStream(String path, String expect) {
    if (!needed("path", path).startsWith("/")) {
      throw must("path", path, "a path that begins with \"/\"");
    }
    JourneySpec.checkPattern("expect", needed("expect", expect));
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
