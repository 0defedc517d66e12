// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.scenario.Ratio;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SummaryTextTest {
  private final Locale before = Locale.getDefault();

  @BeforeEach
  void aLocaleWithOtherSeparators() {
    Locale.setDefault(Locale.GERMANY);
  }

  @AfterEach
  void restore() {
    Locale.setDefault(before);
  }

  private static Settings settings(Model model) {
    String load =
        switch (model) {
          case CLOSED -> "\"model\": \"closed\", \"users\": 48";
          case OPEN -> "\"model\": \"open\", \"rate\": 1200";
          case PROBE -> "\"model\": \"probe\"";
          case TRY -> throw new IllegalArgumentException("tries have a test of their own");
        };
    String json =
        """
        {"scenario": "acmeair-monolith", "targets": ["http://a:9080", "http://b:9080"], %s,
         "rampSeconds": 5, "measureSeconds": 30, "output": "/load/run"}
        """;
    return SettingsReader.readVariable("TEST", json.formatted(load), Instant.EPOCH);
  }

  private static Summary summary(
      Model model, Map<String, Summary.Operation> operations, Summary.Achieved achieved) {
    return summary(model, operations, Map.of(), achieved);
  }

  private static Summary summary(
      Model model,
      Map<String, Summary.Operation> operations,
      Map<String, Long> outcomes,
      Summary.Achieved achieved) {
    List<ErrorMessages.Counted> messages =
        model == Model.OPEN
            ? List.of(new ErrorMessages.Counted("ping", "Connection refused", 9876))
            : List.of();
    return summary(model, operations, outcomes, achieved, messages);
  }

  static Summary summary(
      Model model,
      Map<String, Summary.Operation> operations,
      Map<String, Long> outcomes,
      Summary.Achieved achieved,
      List<ErrorMessages.Counted> messages) {
    return new Summary(
        settings(model),
        "time",
        new Summary.Times(0, 1L, 2L, 3L, 3L),
        operations,
        Map.of(),
        outcomes,
        achieved,
        new Summary.Injector(20, 12, 1, 0.345, 0.1, 0.071, "boot", "1"),
        new Summary.Arrivals(12, 3456, 10),
        model == Model.OPEN ? 2 : 0,
        model == Model.PROBE ? 47 : 0,
        messages,
        new Summary.Jvm("n", "v", "1", "17"));
  }

  @Test
  void tellsAClosedRun() {
    Map<String, Summary.Operation> operations = new LinkedHashMap<>();
    operations.put(
        "ping",
        new Summary.Operation(
            370_368, 0, 0, 0, 0, new Summary.Latency(0.1, 0.9, 123.4, 0.812, 1.5, 9.996, 20)));
    Summary.Achieved achieved =
        new Summary.Achieved(30.04, 360_000, 11_984.02, Map.of("ping", 100.0));
    assertEquals(
        """

        Injector 0 of 1: acmeair-monolith, 48 closed users on 2 servers, ended by time
          after the ramp: 11,984.0 requests/s over 30.0 s
          operation            requests    errors     p50 ms     p90 ms     p99 ms     max ms
          ping                  370,368         0       0.81       1.50      10.00        123
          injector CPU under load: 35 % of 1 processor, memory at most: 7 %
          files: /load/run
        """,
        SummaryText.of(summary(Model.CLOSED, operations, achieved), List.of()));
  }

  @Test
  void tellsAnOpenRunInWhichAllFailed() {
    Map<String, Summary.Operation> operations =
        Map.of("ping", new Summary.Operation(9876, 9876, 0, 2, 12, null));
    assertEquals(
        """

        Injector 0 of 1: acmeair-monolith, 1,200.00 arrivals/s on 2 servers, ended by time
          no request after the ramp
          operation            requests    errors     p50 ms     p90 ms     p99 ms     max ms
          ping                    9,876     9,876          -          -          -          -
          injector CPU under load: 35 % of 1 processor, memory at most: 7 %
          arrivals late: 12, dropped: 3,456
          requests given up in flight: 2
          9,876 x ping: Connection refused
          files: /load/run
        """,
        SummaryText.of(
            summary(Model.OPEN, operations, new Summary.Achieved(0, 0, 0, Map.of("ping", 100.0))),
            List.of()));
  }

  private static Summary.Operation operation(long requests, long errors) {
    return new Summary.Operation(requests, errors, 0, 0, 0, null);
  }

  @Test
  void tellsRatiosOfOutcomesAndOfOperationsThatSucceeded() {
    Map<String, Summary.Operation> operations = new LinkedHashMap<>();
    operations.put("query", operation(1010, 10));
    operations.put("book", operation(150, 20));
    operations.put("list", operation(200, 0));
    operations.put("never", operation(3, 3));
    Summary summary =
        summary(
            Model.CLOSED,
            operations,
            Map.of("found", 675L),
            new Summary.Achieved(0, 0, 0, Map.of()));
    String text =
        SummaryText.of(
            summary,
            List.of(
                new Ratio("found per query", "found", "query"),
                new Ratio("booked per list", "book", "list"),
                new Ratio("booked per never", "book", "never")));
    assertTrue(
        text.contains(
            "  found per query: 0.675\n  booked per list: 0.650\n  booked per never: -\n"),
        text);
  }

  @Test
  void tellsHowOftenAProbeTriedInVain() {
    String text =
        SummaryText.of(
            summary(Model.PROBE, Map.of(), new Summary.Achieved(0, 0, 0, Map.of())), List.of());
    assertTrue(text.contains("acmeair-monolith, a probe on 2 servers"), text);
    assertTrue(text.contains("  attempts before the first answers: 47\n"), text);
  }
}
