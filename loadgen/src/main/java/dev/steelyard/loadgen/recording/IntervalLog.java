// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * {@code latency.hlog}: the standard interval log of HdrHistogram, one line per interval and
 * operation that had requests. Tag {@code <operation>} for successes, {@code <operation>:error} for
 * errors. Values are nanoseconds; the column of the interval's maximum is in milliseconds, as the
 * format has it. Also keeps the totals of the run.
 */
final class IntervalLog implements Closeable {
  private final List<String> operations;
  private final Recorder recorder;
  private final Path file;
  private final FileChannel channel;
  private final PrintStream stream;
  private final HistogramLogWriter writer;
  private final Histogram[] successes;
  private final Histogram[] errors;
  private final Histogram[] successTotals;
  private final Histogram[] errorTotals;

  IntervalLog(List<String> operations, Recorder recorder, Path file, long startEpochMillis)
      throws IOException {
    this.operations = operations;
    this.recorder = recorder;
    this.file = file;
    channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    stream = new PrintStream(Channels.newOutputStream(channel), false, StandardCharsets.UTF_8);
    writer = new HistogramLogWriter(stream);
    writer.outputComment("[Latencies in nanoseconds; Interval_Max in milliseconds]");
    writer.outputLogFormatVersion();
    writer.outputStartTime(startEpochMillis);
    writer.setBaseTime(startEpochMillis);
    writer.outputBaseTime(startEpochMillis);
    writer.outputLegend();
    successes = histograms(operations.size());
    errors = histograms(operations.size());
    successTotals = histograms(operations.size());
    errorTotals = histograms(operations.size());
    check();
  }

  /** Requests of one interval. */
  record Counts(long requests, long errors) {}

  /**
   * Writes what was recorded since the last call.
   *
   * @throws IOException if the file cannot take it, as with a full disk
   */
  Counts flush(long fromEpochMillis, long toEpochMillis) throws IOException {
    recorder.drainTo(successes, errors);
    long succeeded = 0;
    long failed = 0;
    for (int i = 0; i < operations.size(); i++) {
      String name = operations.get(i);
      succeeded += write(name, successes[i], successTotals[i], fromEpochMillis, toEpochMillis);
      failed += write(name + ":error", errors[i], errorTotals[i], fromEpochMillis, toEpochMillis);
    }
    check();
    return new Counts(succeeded + failed, failed);
  }

  private long write(String tag, Histogram interval, Histogram total, long from, long to) {
    long count = interval.getTotalCount();
    if (count > 0) {
      interval.setStartTimeStamp(from);
      interval.setEndTimeStamp(to);
      interval.setTag(tag);
      writer.outputIntervalHistogram(interval);
      total.add(interval);
      interval.reset();
    }
    return count;
  }

  /** All successes of an operation so far. */
  Histogram successTotal(int operation) {
    return successTotals[operation];
  }

  /** All errors of an operation so far. */
  Histogram errorTotal(int operation) {
    return errorTotals[operation];
  }

  /** A print stream keeps its write errors to itself until it is asked. */
  private void check() throws IOException {
    if (stream.checkError()) {
      throw new IOException("cannot write " + file);
    }
    RunRecord.checkStored(file, channel.position());
  }

  @Override
  public void close() throws IOException {
    check();
    stream.close();
  }

  private static Histogram[] histograms(int count) {
    Histogram[] made = new Histogram[count];
    Arrays.setAll(made, i -> new Histogram(Recorder.DIGITS));
    return made;
  }
}
