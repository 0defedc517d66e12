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
import java.util.List;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * {@code latency.hlog}: the standard interval log of HdrHistogram, one line per interval and
 * operation that had requests. Tag {@code <operation>} for successes, {@code <operation>:error} for
 * errors. Values are nanoseconds; the column of the interval's maximum is in milliseconds, as the
 * format has it. Also keeps the totals of the run.
 */
final class IntervalLog implements Closeable {
  private final List<String> tags;
  private final Recorder recorder;
  private final Path file;
  private final FileChannel channel;
  private final PrintStream stream;
  private final HistogramLogWriter writer;
  private final Histogram[] intervals;
  private final Histogram[] totals;

  IntervalLog(List<String> operations, Recorder recorder, Path file, long startEpochMillis)
      throws IOException {
    tags = operations.stream().flatMap(name -> Stream.of(name, name + ":error")).toList();
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
    intervals = recorder.newHistograms();
    totals = recorder.newHistograms();
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
    recorder.drainTo(intervals);
    long requests = 0;
    long errors = 0;
    for (int i = 0; i < intervals.length; i++) {
      Histogram interval = intervals[i];
      long count = interval.getTotalCount();
      requests += count;
      errors += i == Recorder.index(i / 2, true) ? count : 0;
      if (count > 0) {
        interval.setStartTimeStamp(fromEpochMillis);
        interval.setEndTimeStamp(toEpochMillis);
        interval.setTag(tags.get(i));
        writer.outputIntervalHistogram(interval);
        totals[i].add(interval);
        interval.reset();
      }
    }
    check();
    return new Counts(requests, errors);
  }

  /** All successes, or all errors, of an operation so far. */
  Histogram total(int operation, boolean failed) {
    return totals[Recorder.index(operation, failed)];
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
}
