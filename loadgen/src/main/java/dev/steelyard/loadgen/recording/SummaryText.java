// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.scenario.Ratio;
import java.util.List;
import java.util.Locale;

/** The end of a run in a few lines for people; programs read {@code summary.json}. */
public final class SummaryText {
  private static final String ROW = "  %-16s %12s %9s %10s %10s %10s %10s%n";

  private SummaryText() {}

  /**
   * Several lines, the last one ended too. Latencies are of requests that succeeded.
   *
   * @param summary of the run
   * @param ratios figures of its workload
   */
  public static String of(Summary summary, List<Ratio> ratios) {
    Settings settings = summary.settings();
    double share = 1.0 / settings.injectors();
    String load = load(summary, settings.model() == Model.CLOSED ? settings.ownUsers() : 0, share);
    String who = "Injector %d of %d".formatted(settings.injector(), settings.injectors());
    return told(summary, ratios, who, load);
  }

  /** The same for the summary of all injectors. */
  static String ofAll(Summary summary, List<Ratio> ratios) {
    Settings settings = summary.settings();
    String load = load(summary, settings.model() == Model.CLOSED ? settings.users() : 0, 1);
    return told(summary, ratios, "All %d injectors".formatted(settings.injectors()), load);
  }

  private static String told(Summary summary, List<Ratio> ratios, String who, String load) {
    Settings settings = summary.settings();
    StringBuilder text = new StringBuilder();
    add(text, "%n%s: %s%n", who, load);
    addRate(text, summary.achieved());
    add(text, ROW, "operation", "requests", "errors", "p50 ms", "p90 ms", "p99 ms", "max ms");
    summary.operations().forEach((name, operation) -> addOperation(text, name, operation));
    for (Ratio ratio : ratios) {
      addRatio(text, summary, ratio);
    }
    Summary.Injector injector = summary.injector();
    add(
        text,
        "  injector CPU under load: %.0f %% of %d processor%s, memory at most: %.0f %%%n",
        100 * injector.cpuShareUnderLoad(),
        injector.availableProcessors(),
        injector.availableProcessors() == 1 ? "" : "s",
        100 * injector.memoryShare());
    if (settings.model() == Model.OPEN) {
      Summary.Arrivals arrivals = summary.arrivals();
      add(text, "  arrivals late: %,d, dropped: %,d%n", arrivals.late(), arrivals.dropped());
    }
    if (summary.abandonedRequests() > 0) {
      add(text, "  requests given up in flight: %,d%n", summary.abandonedRequests());
    }
    if (summary.refused() > 0) {
      add(text, "  attempts before the first answers: %,d%n", summary.refused());
    }
    for (ErrorMessages.Counted each : summary.errorMessages()) {
      add(text, "  %,d x %s: %s%n", each.count(), each.operation(), each.message());
    }
    add(text, "  files: %s%n", settings.output());
    return text.toString();
  }

  private static String load(Summary summary, int users, double share) {
    Settings settings = summary.settings();
    String offered =
        switch (settings.model()) {
          case CLOSED -> String.format(Locale.ROOT, "%,d closed users", users);
          case OPEN -> String.format(Locale.ROOT, "%,.2f arrivals/s", settings.rate() * share);
          case PROBE -> "a probe";
          case TRY -> "one user, each visit once";
        };
    return "%s, %s on %d server%s, ended by %s"
        .formatted(
            settings.scenario() == null ? "declared journey" : settings.scenario(),
            offered,
            settings.targets().size(),
            settings.targets().size() == 1 ? "" : "s",
            summary.endedBy());
  }

  private static void addRate(StringBuilder text, Summary.Achieved achieved) {
    if (achieved.requests() == 0) {
      add(text, "  no request after the ramp%n");
    } else {
      double rate = achieved.requestsPerSecond();
      add(text, "  after the ramp: %,.1f requests/s over %.1f s%n", rate, achieved.seconds());
    }
  }

  private static void addOperation(StringBuilder text, String name, Summary.Operation operation) {
    Summary.Latency latency = operation.latencyMillis();
    String requests = String.format(Locale.ROOT, "%,d", operation.requests());
    String errors = String.format(Locale.ROOT, "%,d", operation.errors());
    if (latency == null) {
      add(text, ROW, name, requests, errors, "-", "-", "-", "-");
    } else {
      add(
          text,
          ROW,
          name,
          requests,
          errors,
          millis(latency.p50()),
          millis(latency.p90()),
          millis(latency.p99()),
          millis(latency.max()));
    }
  }

  private static void addRatio(StringBuilder text, Summary summary, Ratio ratio) {
    long per = summary.operations().get(ratio.per()).successes();
    Long outcome = summary.outcomes().get(ratio.count());
    long count = outcome != null ? outcome : summary.operations().get(ratio.count()).successes();
    if (per == 0) {
      add(text, "  %s: -%n", ratio.text());
    } else {
      add(text, "  %s: %.3f%n", ratio.text(), (double) count / per);
    }
  }

  private static String millis(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.2f" : "%,.0f", value);
  }

  private static void add(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values));
  }
}
