// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.scenario.Ratio;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * What several injectors recorded of one run, as if one had offered all its load: histograms are
 * added up, never their quantiles.
 */
public final class Merge {
  /** What is needed of each injector. */
  public static final List<String> FILES = List.of("summary.json", "latency.hlog");

  /** Written into the first folder. */
  private static final String WHOLE = "summary-of-all.json";

  private final List<Path> folders;
  private final List<Summary> parts = new ArrayList<>();

  private Merge(List<Path> folders) throws IOException {
    this.folders = folders;
    for (Path folder : folders) {
      parts.add(read(folder));
    }
    checkWhole(parts.stream().map(Summary::settings).toList());
  }

  /**
   * What is added up must be each injector of one run, once.
   *
   * @throws IOException if it is not, and why
   */
  static void checkWhole(List<Settings> all) throws IOException {
    Set<Integer> missing =
        IntStream.range(0, all.get(0).injectors()).boxed().collect(Collectors.toSet());
    for (Settings each : all) {
      if (!SettingsReader.shared(each).equals(SettingsReader.shared(all.get(0)))) {
        throw new IOException("injector " + each.injector() + " is of another run");
      }
      if (!missing.remove(each.injector())) {
        throw new IOException("injector " + each.injector() + " is there twice");
      }
    }
    if (!missing.isEmpty()) {
      throw new IOException("injector " + missing.iterator().next() + " is missing");
    }
  }

  private static Summary read(Path folder) throws IOException {
    return SettingsReader.JSON.readValue(folder.resolve("summary.json").toFile(), Summary.class);
  }

  /** The settings of an injector that has ended, as it was run. */
  public static Settings settings(Path folder) throws IOException {
    return read(folder).settings();
  }

  /**
   * Writes the summary of all into the first folder.
   *
   * @param folders of all injectors of a run, with the files that each wrote
   * @param ratios figures of the workload
   * @return the same for people
   * @throws IOException if a file cannot be read or written
   */
  public static String told(List<Path> folders, List<Ratio> ratios) throws IOException {
    Summary whole = of(folders);
    whole.writeTo(folders.get(0).resolve(WHOLE));
    return SummaryText.ofAll(whole, ratios);
  }

  /** The summary of all. */
  static Summary of(List<Path> folders) throws IOException {
    return new Merge(folders).summary();
  }

  private Summary summary() throws IOException {
    Map<String, Summary.Operation> operations = operations();
    Summary.Times times = times();
    return new Summary(
        parts.get(0).settings(),
        parts.stream().map(Summary::endedBy).distinct().collect(Collectors.joining(", ")),
        times,
        operations,
        merged(Summary::firstAnswers, Math::min),
        merged(Summary::outcomes, Long::sum),
        achieved(operations, times),
        injector(times),
        new Summary.Arrivals(
            sum(part -> part.arrivals().late()),
            sum(part -> part.arrivals().dropped()),
            RunRecord.LATE_MILLIS),
        sum(Summary::abandonedRequests),
        sum(Summary::refused),
        errorMessages(),
        parts.get(0).jvm());
  }

  private Map<String, Summary.Operation> operations() throws IOException {
    Map<String, Histogram> totals = new LinkedHashMap<>();
    for (Path folder : folders) {
      try (HistogramLogReader reader =
          new HistogramLogReader(folder.resolve("latency.hlog").toFile())) {
        while (reader.hasNext()) {
          if (reader.nextIntervalHistogram() instanceof Histogram interval) {
            totals.computeIfAbsent(interval.getTag(), tag -> Recorder.newHistogram()).add(interval);
          }
        }
      }
    }
    Map<String, Summary.Operation> found = new LinkedHashMap<>();
    for (String name : parts.get(0).operations().keySet()) {
      Histogram right = totals.getOrDefault(name, Recorder.newHistogram());
      Histogram wrong = totals.getOrDefault(name + ":error", Recorder.newHistogram());
      found.put(
          name,
          new Summary.Operation(
              right.getTotalCount() + wrong.getTotalCount(),
              wrong.getTotalCount(),
              sum(part -> part.operations().get(name).unanswered()),
              sum(part -> part.operations().get(name).abandoned()),
              sum(part -> part.operations().get(name).late()),
              Summary.Latency.of(right)));
    }
    return found;
  }

  private Summary.Times times() {
    return new Summary.Times(
        extreme(Summary.Times::jvmStartEpochMillis, Math::min),
        extreme(Summary.Times::firstRequestEpochMillis, Math::min),
        extreme(Summary.Times::rampEndEpochMillis, Math::max),
        extreme(Summary.Times::loadEndEpochMillis, Math::max),
        extreme(Summary.Times::lastRequestEpochMillis, Math::max));
  }

  /** Null where it came to that nowhere. */
  private Long extreme(Function<Summary.Times, Long> time, BinaryOperator<Long> choice) {
    return parts.stream()
        .map(part -> time.apply(part.times()))
        .filter(Objects::nonNull)
        .reduce(choice)
        .orElse(null);
  }

  private Summary.Achieved achieved(
      Map<String, Summary.Operation> operations, Summary.Times times) {
    long requests = sum(part -> part.achieved().requests());
    double seconds =
        requests > 0 ? (times.loadEndEpochMillis() - times.rampEndEpochMillis()) / 1e3 : 0;
    return new Summary.Achieved(
        seconds, requests, seconds > 0 ? requests / seconds : 0, RunRecord.mixPercent(operations));
  }

  private Summary.Injector injector(Summary.Times times) {
    List<Summary.Injector> used = parts.stream().map(Summary::injector).toList();
    double underLoad = used.stream().mapToDouble(Summary.Injector::cpuSecondsUnderLoad).sum();
    int processors = processors(used);
    Long first = times.firstRequestEpochMillis();
    double seconds = first == null ? 0 : (times.lastRequestEpochMillis() - first) / 1e3;
    return new Summary.Injector(
        used.stream().mapToDouble(Summary.Injector::cpuSeconds).sum(),
        underLoad,
        processors,
        seconds > 0 ? underLoad / (seconds * processors) : 0,
        used.stream().mapToDouble(Summary.Injector::gcSeconds).sum(),
        used.stream().mapToDouble(Summary.Injector::memoryShare).max().orElse(0),
        used.stream().map(Summary.Injector::host).distinct().collect(Collectors.joining(", ")),
        used.stream().map(Summary.Injector::cpus).distinct().collect(Collectors.joining(", ")));
  }

  /** Injectors of one machine may share its processors: each of those is there once. */
  static int processors(List<Summary.Injector> injectors) {
    Map<String, List<Summary.Injector>> hosts =
        injectors.stream().collect(Collectors.groupingBy(Summary.Injector::host));
    int processors = 0;
    for (List<Summary.Injector> there : hosts.values()) {
      BitSet cpus = new BitSet();
      there.forEach(injector -> cpus.or(listed(injector.cpus())));
      int each = there.stream().mapToInt(Summary.Injector::availableProcessors).sum();
      processors += cpus.isEmpty() ? each : Math.min(each, cpus.cardinality());
    }
    return processors;
  }

  /** CPUs of a list as the kernel writes it. */
  private static BitSet listed(String cpus) {
    BitSet set = new BitSet();
    for (String range : cpus.isEmpty() ? new String[0] : cpus.split(",", -1)) {
      String[] ends = range.split("-", -1);
      set.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
    }
    return set;
  }

  private List<ErrorMessages.Counted> errorMessages() {
    Map<List<String>, Long> counts =
        parts.stream()
            .flatMap(part -> part.errorMessages().stream())
            .collect(
                Collectors.toMap(
                    each -> List.of(each.operation(), each.message()),
                    ErrorMessages.Counted::count,
                    Long::sum,
                    LinkedHashMap::new));
    return counts.entrySet().stream()
        .map(
            each ->
                new ErrorMessages.Counted(
                    each.getKey().get(0), each.getKey().get(1), each.getValue()))
        .toList();
  }

  private long sum(ToLongFunction<Summary> figure) {
    return parts.stream().mapToLong(figure).sum();
  }

  private <V> Map<String, V> merged(
      Function<Summary, Map<String, V>> figures, BinaryOperator<V> together) {
    return parts.stream()
        .flatMap(part -> figures.apply(part).entrySet().stream())
        .collect(
            Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, together, LinkedHashMap::new));
  }
}
