// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole runs against servers that send no event. */
class EventsTest {
  private static final String STREAM =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  /** Has clients that were cut off come again at once. */
  private static final String RETRY = "12\r\nretry: 1\ndata: a\n\n\r\n";

  @TempDir Path folder;

  private Injector run(RawServer server, String within) throws Exception {
    ObjectNode settings = Injector.settings(folder, List.of(server.url()));
    settings.set(
        "journey",
        Injector.json(
            """
            {"visits": {"v": {"steps": [
              {"operation": "ping", "events": {"path": "/", "expect": "b", "within": "%s"}}]}}}
            """
                .formatted(within)));
    return Injector.runUntil(settings, "load came", () -> server.served() > 30);
  }

  private static void assertAllFailed(Injector injector, RawServer server, String message)
      throws Exception {
    assertEquals(server.served(), injector.requests(), injector::console);
    assertEquals(server.served(), injector.errors(), injector::console);
    String messages = injector.summary().get("errorMessages").toString();
    assertTrue(messages.contains("\"message\":\"%s\"".formatted(message)), messages);
  }

  /** Gatling itself waits for the head of such an answer for ever, and counts from there. */
  @ParameterizedTest
  @CsvSource({"false, no answer within 200 ms", "true, no end of the answer within 200 ms"})
  void theWholeOperationHasALimitOfTime(boolean begins, String message) throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    try (RawServer server =
        new RawServer(
            (number, to) -> {
              if (begins) {
                RawServer.write(to, STREAM);
              }
              never.await();
              return false;
            })) {
      assertAllFailed(run(server, "200ms"), server, message);
    }
  }

  /** Gatling would ask again, within the operation and after it. */
  @Test
  void aStreamThatIsCutOffIsAskedForOnce() throws Exception {
    try (RawServer server =
        new RawServer(
            (number, to) -> {
              RawServer.write(to, STREAM + RETRY);
              return false;
            })) {
      assertAllFailed(run(server, "600s"), server, "the answer was cut off");
    }
  }
}
