// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.recording;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * Latencies of all requests, per operation, successes apart from errors.
 *
 * <p>Each event-loop thread writes to histograms of its own, so that recording contends with
 * nobody; the flushing thread swaps them and adds them up. Unit: nanoseconds; 3 significant digits;
 * no upper limit.
 */
public final class Recorder {
  /** Significant decimal digits of all histograms. */
  public static final int DIGITS = 3;

  private final int operations;
  private volatile long rampEnd;
  private final List<ThreadPart> parts = new CopyOnWriteArrayList<>();
  private final ThreadLocal<ThreadPart> part = ThreadLocal.withInitial(this::newPart);

  /**
   * @param operations number of operations; they are named by their index
   */
  public Recorder(int operations) {
    this.operations = operations;
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
    // Before recordValue, whose atomic operations make these fields visible to the flushing thread.
    mine.firstStart = Math.min(mine.firstStart, startNanos);
    mine.lastEnd = Math.max(mine.lastEnd, endNanos);
    if (!failed) {
      mine.firstSuccess[operation] = Math.min(mine.firstSuccess[operation], endNanos);
    }
    if (startNanos >= rampEnd) {
      mine.afterRamp++;
    }
    (failed ? mine.errors : mine.successes)[operation].recordValue(endNanos - fromNanos);
  }

  /**
   * Sets the end of the ramp, a reading of the run's clock; to be called before the first request.
   */
  public void rampEndsAt(long nanos) {
    rampEnd = nanos;
  }

  /** Start of the first recorded request; {@code Long.MAX_VALUE} if there is none. */
  long firstStart() {
    return parts.stream().mapToLong(each -> each.firstStart).min().orElse(Long.MAX_VALUE);
  }

  /** End of the last recorded request; {@code Long.MIN_VALUE} if there is none. */
  long lastEnd() {
    return parts.stream().mapToLong(each -> each.lastEnd).max().orElse(Long.MIN_VALUE);
  }

  /** End of the first success of an operation; {@code Long.MAX_VALUE} if there is none. */
  long firstSuccess(int operation) {
    return parts.stream()
        .mapToLong(each -> each.firstSuccess[operation])
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Recorded requests that started after the ramp. */
  long afterRamp() {
    return parts.stream().mapToLong(each -> each.afterRamp).sum();
  }

  /**
   * Adds everything recorded since the last call. To be called by one thread at a time.
   *
   * @param successes receives successes, one histogram per operation
   * @param errors receives errors, one histogram per operation
   */
  void drainTo(Histogram[] successes, Histogram[] errors) {
    for (ThreadPart each : parts) {
      for (int operation = 0; operation < operations; operation++) {
        each.successBuffer[operation] =
            drain(each.successes[operation], each.successBuffer[operation], successes[operation]);
        each.errorBuffer[operation] =
            drain(each.errors[operation], each.errorBuffer[operation], errors[operation]);
      }
    }
  }

  private static Histogram drain(SingleWriterRecorder from, Histogram buffer, Histogram to) {
    Histogram interval = from.getIntervalHistogram(buffer);
    if (interval.getTotalCount() > 0) {
      to.add(interval);
    }
    return interval;
  }

  private ThreadPart newPart() {
    ThreadPart made = new ThreadPart(operations);
    parts.add(made);
    return made;
  }

  /** What one thread writes; the buffers are the flushing thread's. */
  private static final class ThreadPart {
    private long firstStart = Long.MAX_VALUE;
    private long lastEnd = Long.MIN_VALUE;
    private long afterRamp;
    private final long[] firstSuccess;
    private final SingleWriterRecorder[] successes;
    private final SingleWriterRecorder[] errors;
    private final Histogram[] successBuffer;
    private final Histogram[] errorBuffer;

    ThreadPart(int operations) {
      firstSuccess = new long[operations];
      Arrays.fill(firstSuccess, Long.MAX_VALUE);
      successes = recorders(operations);
      errors = recorders(operations);
      successBuffer = new Histogram[operations];
      errorBuffer = new Histogram[operations];
    }

    private static SingleWriterRecorder[] recorders(int count) {
      SingleWriterRecorder[] made = new SingleWriterRecorder[count];
      for (int i = 0; i < count; i++) {
        made[i] = new SingleWriterRecorder(DIGITS);
      }
      return made;
    }
  }
}
