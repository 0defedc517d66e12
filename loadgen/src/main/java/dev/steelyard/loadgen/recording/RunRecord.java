// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import dev.steelyard.loadgen.Settings;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The files of one run: opened at its start, flushed each second, closed with the summary. Not
 * thread-safe.
 */
public final class RunRecord {
  /** An arrival that starts later than this after its time counts as late. */
  public static final long LATE_MILLIS = 10;

  /**
   * When load was offered, on the run's clock.
   *
   * @param rampEndNanos end of the ramp
   * @param endNanos from when on no operation started
   */
  public record Load(long rampEndNanos, long endNanos) {}

  /**
   * What the histograms of an operation do not tell.
   *
   * @param abandoned operations that were still in flight
   * @param late arrivals that started too late
   */
  public record LeftOver(long abandoned, long late) {}

  private final Settings settings;
  private final List<String> operations;
  private final RunClock clock;
  private final Recorder recorder;
  private final Outcomes outcomes;
  private final Cycles cycles;
  private final ErrorMessages errorMessages = ErrorMessages.listen();
  private final IntervalLog intervals;
  private final HealthLog health;

  private long flushedAt;
  private long lateWritten;
  private long droppedWritten;
  private long userNanosWritten;
  private Map<String, Long> outcomesWritten;
  private double cpuAtFirstRequest = Double.NaN;
  private double memoryPeak;

  /**
   * Opens the files.
   *
   * @throws FileAlreadyExistsException if the folder holds a run already
   * @throws IOException if the folder cannot be made or written
   */
  public RunRecord(
      Settings settings,
      List<String> operations,
      RunClock clock,
      Recorder recorder,
      Outcomes outcomes,
      Cycles cycles)
      throws IOException {
    this.settings = settings;
    this.operations = operations;
    this.clock = clock;
    this.recorder = recorder;
    this.outcomes = outcomes;
    this.cycles = cycles;
    outcomesWritten = outcomes.totals();
    Path folder = Files.createDirectories(settings.output());
    flushedAt = clock.nanos();
    Path latencies = folder.resolve("latency.hlog");
    intervals = new IntervalLog(operations, recorder, latencies, clock.epochMillis(flushedAt));
    health = new HealthLog(folder.resolve("health.jsonl"));
  }

  /**
   * Checks that what was written is there: a file that was removed takes everything and keeps
   * nothing.
   *
   * @param bytes written to it so far
   */
  static void checkStored(Path file, long bytes) throws IOException {
    long size;
    try {
      size = Files.size(file);
    } catch (NoSuchFileException e) {
      size = -1;
    }
    if (size < bytes) {
      throw new IOException(file + " was lost");
    }
  }

  /** The newest message of a request that failed since the last call, or null. */
  public String takeLastError() {
    return errorMessages.takeLast();
  }

  /** Begins the first interval, now. */
  public void begin() {
    flushedAt = clock.nanos();
  }

  /**
   * Notes that load starts now, to tell the CPU under load from that of the start of the JVM. What
   * failed before was a probe's practice.
   */
  public void loadStarts() {
    errorMessages.clear();
    cpuAtFirstRequest = ProcessUsage.cpuSeconds();
  }

  /**
   * Writes the interval since the last call.
   *
   * @param activeUsers users (closed model) or arrivals in flight (open model) now
   * @param late late arrivals since the start of the run
   * @param dropped dropped arrivals since the start of the run
   * @param userNanos closed model: latency and pauses of all users since the start of the run
   * @throws IOException if a file cannot take it
   */
  public void flush(long activeUsers, long late, long dropped, long userNanos) throws IOException {
    long now = clock.nanos();
    IntervalLog.Counts counts =
        intervals.flush(clock.epochMillis(flushedAt), clock.epochMillis(now));
    Map<String, Long> outcomesNow = outcomes.totals();
    double memory = ProcessUsage.memoryShare();
    memoryPeak = Math.max(memoryPeak, memory);
    Map<String, Long> met = new LinkedHashMap<>(outcomesNow);
    met.replaceAll((name, count) -> count - outcomesWritten.get(name));
    health.write(
        new HealthLog.Line(
            clock.epochMillis(now),
            (now - flushedAt) / 1e9,
            counts.requests(),
            counts.errors(),
            activeUsers,
            ProcessUsage.cpuSeconds(),
            late - lateWritten,
            dropped - droppedWritten,
            ProcessUsage.gcSeconds(),
            memory,
            (userNanos - userNanosWritten) / 1e9,
            met,
            cycles.drain()));
    flushedAt = now;
    outcomesWritten = outcomesNow;
    lateWritten = late;
    droppedWritten = dropped;
    userNanosWritten = userNanos;
  }

  /**
   * Closes the logs and writes the summary; {@link #flush} comes before it.
   *
   * @param endedBy what ended the run
   * @param load when it was offered
   * @param leftOver of each operation
   * @param refused attempts of a probe that were not recorded
   * @return the summary that was written
   * @throws IOException if a file cannot take it
   */
  public Summary close(String endedBy, Load load, List<LeftOver> leftOver, long refused)
      throws IOException {
    double cpuSeconds = ProcessUsage.cpuSeconds();
    intervals.close();
    health.close();
    Map<String, Summary.Operation> perOperation = new LinkedHashMap<>();
    for (int i = 0; i < operations.size(); i++) {
      perOperation.put(operations.get(i), operation(i, leftOver.get(i)));
    }
    Summary summary =
        new Summary(
            settings,
            endedBy,
            times(load),
            perOperation,
            firstAnswers(),
            outcomesWritten,
            achieved(perOperation, load),
            injector(cpuSeconds),
            new Summary.Arrivals(lateWritten, droppedWritten, LATE_MILLIS),
            leftOver.stream().mapToLong(LeftOver::abandoned).sum(),
            refused,
            errorMessages.counted(),
            Summary.Jvm.current());
    summary.writeTo(settings.output().resolve("summary.json"));
    return summary;
  }

  private Summary.Operation operation(int index, LeftOver leftOver) {
    Histogram successes = intervals.total(index, false);
    long errors = intervals.total(index, true).getTotalCount();
    return new Summary.Operation(
        successes.getTotalCount() + errors,
        errors,
        errorMessages.unanswered(operations.get(index)),
        leftOver.abandoned(),
        leftOver.late(),
        Summary.Latency.of(successes));
  }

  private Map<String, Double> firstAnswers() {
    Map<String, Double> first = new LinkedHashMap<>();
    for (int i = 0; i < operations.size(); i++) {
      long nanos = recorder.firstSuccess(i);
      if (nanos != Long.MAX_VALUE) {
        first.put(operations.get(i), clock.exactEpochMillis(nanos));
      }
    }
    return first;
  }

  private boolean hadRequests() {
    return recorder.lastEnd() > Long.MIN_VALUE;
  }

  private Summary.Times times(Load load) {
    boolean any = hadRequests();
    long last = recorder.lastEnd();
    long rampEnd = load.rampEndNanos();
    return new Summary.Times(
        ManagementFactory.getRuntimeMXBean().getStartTime(),
        any ? clock.epochMillis(recorder.firstStart()) : null,
        any && last >= rampEnd ? clock.epochMillis(rampEnd) : null,
        any ? clock.epochMillis(load.endNanos()) : null,
        any ? clock.epochMillis(last) : null);
  }

  private Summary.Achieved achieved(Map<String, Summary.Operation> perOperation, Load load) {
    long requests = recorder.afterRamp();
    double seconds = requests > 0 ? (load.endNanos() - load.rampEndNanos()) / 1e9 : 0;
    return new Summary.Achieved(
        seconds, requests, seconds > 0 ? requests / seconds : 0, mixPercent(perOperation));
  }

  /** Share of each operation in all requests. */
  static Map<String, Double> mixPercent(Map<String, Summary.Operation> perOperation) {
    long all = perOperation.values().stream().mapToLong(Summary.Operation::requests).sum();
    Map<String, Double> mix = new LinkedHashMap<>();
    perOperation.forEach(
        (name, operation) -> mix.put(name, all > 0 ? 100.0 * operation.requests() / all : 0));
    return mix;
  }

  private Summary.Injector injector(double cpuSeconds) {
    int processors = Runtime.getRuntime().availableProcessors();
    double seconds = hadRequests() ? (recorder.lastEnd() - recorder.firstStart()) / 1e9 : 0;
    double underLoad = hadRequests() ? cpuSeconds - cpuAtFirstRequest : 0;
    return new Summary.Injector(
        cpuSeconds,
        underLoad,
        processors,
        seconds > 0 ? underLoad / (seconds * processors) : 0,
        ProcessUsage.gcSeconds(),
        memoryPeak,
        ProcessUsage.host(),
        ProcessUsage.cpus());
  }
}
