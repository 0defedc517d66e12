// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * Latencies of all requests, per operation, successes apart from errors: at {@link #index}.
 *
 * <p>Each event-loop thread writes to histograms of its own, so that recording contends with
 * nobody; the flushing thread swaps them and adds them up. Unit: nanoseconds; 3 significant digits;
 * no upper limit.
 */
public final class Recorder {
  /** Significant decimal digits of all histograms. */
  private static final int DIGITS = 3;

  private final int histograms;
  private volatile long rampEnd;
  private final List<ThreadPart> parts = new CopyOnWriteArrayList<>();
  private final ThreadLocal<ThreadPart> part = ThreadLocal.withInitial(this::newPart);

  /**
   * @param operations number of operations; they are named by their index
   */
  public Recorder(int operations) {
    histograms = index(operations, false);
  }

  /** Where the successes or the errors of an operation are counted. */
  static int index(int operation, boolean failed) {
    return 2 * operation + (failed ? 1 : 0);
  }

  /**
   * Records one operation that has ended. Times are readings of the run's clock.
   *
   * @param operation index of the operation
   * @param startNanos when it was sent
   * @param fromNanos when its latency starts to count: when it was to be sent
   * @param endNanos when the last byte of its answer had arrived
   * @param failed whether it is an error
   */
  public void record(
      int operation, long startNanos, long fromNanos, long endNanos, boolean failed) {
    ThreadPart mine = part.get();
    int index = index(operation, failed);
    // Before recordValue, whose atomic operations make these fields visible to the flushing thread.
    mine.firstStart = Math.min(mine.firstStart, startNanos);
    mine.lastEnd = Math.max(mine.lastEnd, endNanos);
    mine.firstEnd[index] = Math.min(mine.firstEnd[index], endNanos);
    if (startNanos >= rampEnd) {
      mine.afterRamp++;
    }
    mine.recorders[index].recordValue(endNanos - fromNanos);
  }

  /**
   * Sets the end of the ramp, a reading of the run's clock; to be called before the first request.
   */
  public void rampEndsAt(long nanos) {
    rampEnd = nanos;
  }

  /** Start of the first recorded request; {@code Long.MAX_VALUE} if there is none. */
  long firstStart() {
    return each(part -> part.firstStart).min().orElse(Long.MAX_VALUE);
  }

  /** End of the last recorded request; {@code Long.MIN_VALUE} if there is none. */
  long lastEnd() {
    return each(part -> part.lastEnd).max().orElse(Long.MIN_VALUE);
  }

  /** End of the first success of an operation; {@code Long.MAX_VALUE} if there is none. */
  long firstSuccess(int operation) {
    int index = index(operation, false);
    return each(part -> part.firstEnd[index]).min().orElse(Long.MAX_VALUE);
  }

  /** Recorded requests that started after the ramp. */
  long afterRamp() {
    return each(part -> part.afterRamp).sum();
  }

  private LongStream each(ToLongFunction<ThreadPart> value) {
    return parts.stream().mapToLong(value);
  }

  /** Adds everything recorded since the last call. To be called by one thread at a time. */
  void drainTo(Histogram[] to) {
    for (ThreadPart each : parts) {
      for (int i = 0; i < histograms; i++) {
        Histogram interval = each.recorders[i].getIntervalHistogram(each.buffers[i]);
        each.buffers[i] = interval;
        if (interval.getTotalCount() > 0) {
          to[i].add(interval);
        }
      }
    }
  }

  /** An empty one, as all are. */
  static Histogram newHistogram() {
    return new Histogram(DIGITS);
  }

  /** One for each index, empty. */
  Histogram[] newHistograms() {
    return Stream.generate(Recorder::newHistogram).limit(histograms).toArray(Histogram[]::new);
  }

  private ThreadPart newPart() {
    ThreadPart made = new ThreadPart(histograms);
    parts.add(made);
    return made;
  }

  /** What one thread writes; the buffers are the flushing thread's. */
  private static final class ThreadPart {
    private long firstStart = Long.MAX_VALUE;
    private long lastEnd = Long.MIN_VALUE;
    private long afterRamp;
    private final long[] firstEnd;
    private final SingleWriterRecorder[] recorders;
    private final Histogram[] buffers;

    ThreadPart(int histograms) {
      firstEnd = new long[histograms];
      Arrays.fill(firstEnd, Long.MAX_VALUE);
      recorders = new SingleWriterRecorder[histograms];
      Arrays.setAll(recorders, i -> new SingleWriterRecorder(DIGITS));
      buffers = new Histogram[histograms];
    }
  }
}
