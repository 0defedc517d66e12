// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.recording.SummaryText;
import dev.steelyard.loadgen.scenario.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Beginning and end of a run: a thread of its own flushes the recording at each full second of the
 * wall clock (so that the intervals of several injectors coincide), watches for the reasons to
 * stop, waits until no request is in flight, and writes and prints the summary.
 */
public final class RunLife {
  private static final long POLL_MILLIS = 100;
  private static final long SECOND_MILLIS = 1000;

  /**
   * How long a signal waits for requests in flight: below the ten seconds that container engines
   * give.
   */
  private static final long SIGNAL_GRACE_MILLIS = 5000;

  /** Added to the request timeout as the limit of waiting for requests in flight. */
  private static final long DRAIN_GRACE_MILLIS = 5000;

  private final Run run;
  private final Path stopFile;
  private final Thread thread = new Thread(this::live, "steelyard-recorder");
  private volatile boolean finished;
  private volatile IOException failure;

  /**
   * Prepares a run and opens its files.
   *
   * @throws IOException if the output folder cannot be used
   */
  public RunLife(Settings settings, Workload workload) throws IOException {
    run = new Run(settings, workload);
    stopFile = settings.output().resolve("stop");
    thread.setDaemon(true);
  }

  /** Starts the recording; load comes with the first virtual user. */
  public void start() {
    Runtime.getRuntime().addShutdownHook(new Thread(this::onShutdown, "steelyard-shutdown"));
    thread.start();
  }

  Run run() {
    return run;
  }

  /** Whether all files are written, so that the process may end. */
  boolean finished() {
    return finished;
  }

  /** What kept the recording from being written, or null. */
  IOException failure() {
    return failure;
  }

  private void live() {
    RunClock clock = run.clock();
    long boundary = nextSecond(clock);
    try {
      while (!mayEnd()) {
        long toBoundary = TimeUnit.NANOSECONDS.toMillis(boundary - clock.nanos()) + 1;
        Thread.sleep(Math.max(1, Math.min(POLL_MILLIS, toBoundary)));
        if (clock.nanos() >= boundary) {
          run.flush();
          boundary = nextSecond(clock);
        }
      }
      System.out.print(SummaryText.of(run.close(), run.workload().ratios()));
    } catch (IOException e) {
      failure = e;
      run.control().stop(Control.Ending.TIME, clock.nanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      finished = true;
    }
  }

  private static long nextSecond(RunClock clock) {
    long second = Math.floorDiv(clock.epochMillis(clock.nanos()), SECOND_MILLIS) + 1;
    return clock.nanosAt(second * SECOND_MILLIS);
  }

  private boolean mayEnd() {
    Control control = run.control();
    long now = run.clock().nanos();
    if (!control.stopped()) {
      if (now >= control.deadline()) {
        control.stop(Control.Ending.TIME, now);
      } else if (Files.exists(stopFile)) {
        control.stop(Control.Ending.STOP_FILE, now);
      }
    }
    return control.drained()
        || (control.stopped() && now - control.stoppedAt() > drainLimitNanos());
  }

  private long drainLimitNanos() {
    return TimeUnit.MILLISECONDS.toNanos(
        run.control().ending() == Control.Ending.SIGNAL
            ? SIGNAL_GRACE_MILLIS
            : run.settings().requestTimeoutMillis() + DRAIN_GRACE_MILLIS);
  }

  private void onShutdown() {
    run.control().stop(Control.Ending.SIGNAL, run.clock().nanos());
    try {
      thread.join(SIGNAL_GRACE_MILLIS + DRAIN_GRACE_MILLIS / 2);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
