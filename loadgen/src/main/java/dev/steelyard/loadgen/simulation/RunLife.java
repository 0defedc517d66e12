// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.client.HeldBodies;
import dev.steelyard.loadgen.client.InjectorMemoryException;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.recording.SummaryText;
import dev.steelyard.loadgen.scenario.Scenario;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Beginning and end of a run: a thread of its own waits for the start file if it is to, flushes the
 * recording at each full second of the wall clock (so that the intervals of several injectors
 * coincide), watches for the reasons to stop, waits until no operation is in flight, and writes and
 * prints the summary. Whatever goes wrong on the way fails the run.
 */
public final class RunLife {
  private static final long START_POLL_MILLIS = 10;
  private static final long POLL_MILLIS = 100;
  private static final long SECOND_MILLIS = 1000;

  /** What passes beyond this between two looks, this process was stopped. */
  private static final long LONGEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5 * POLL_MILLIS);

  /**
   * How long a signal waits for operations in flight: below the ten seconds that container engines
   * give.
   */
  private static final long SIGNAL_GRACE_MILLIS = 5000;

  /** Added to the longest wait of an operation as the limit of waiting for operations in flight. */
  private static final long DRAIN_GRACE_MILLIS = 5000;

  private final Run run;
  private final Path output;
  private final Thread thread = new Thread(this::live, "steelyard-recorder");
  private volatile boolean initialised;
  private volatile boolean finished;
  private volatile boolean written;

  /** Whether all that is left takes processor time and a disk alone. */
  private volatile boolean writes;

  private boolean told;

  /** Time for which operations in flight have been waited for. */
  private long drainedNanos;

  /**
   * Prepares a run and opens its files.
   *
   * @throws IOException if the output folder cannot be used
   */
  public RunLife(Settings settings, Scenario scenario) throws IOException {
    run = new Run(settings, scenario, new RunClock());
    HeldBodies.watch(run::fail);
    output = settings.output();
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

  /** Tells that users only wait for the run to open. */
  void initialised() {
    initialised = true;
  }

  /** Whether the run is over, so that the process may end. */
  boolean finished() {
    return finished;
  }

  /** One sentence that says why the run has failed, or null if all files are written. */
  String failure() {
    Throwable reason = run.failure();
    if (reason instanceof StartBarrier.StartBarrierException) {
      return reason.getMessage();
    }
    if (reason instanceof OutOfMemoryError || reason instanceof InjectorMemoryException) {
      return ("The injector ran out of memory, not the server (%s): use more injectors, fewer users"
              + " or arrivals, or checks that read no large bodies. Its recording is incomplete.")
          .formatted(reason.getMessage());
    }
    if (reason instanceof IOException) {
      return "The recording could not be written (%s): check the space and the rights of %s."
          .formatted(reason.getMessage(), output);
    }
    if (reason != null) {
      StackTraceElement[] trace = reason.getStackTrace();
      String where = trace.length > 0 ? " at " + trace[0] : "";
      return "The injector failed (%s%s): its recording is incomplete.".formatted(reason, where);
    }
    return written ? null : "The load ended before the run did: its recording is incomplete.";
  }

  /** Says once why the run has failed; whether it has. Returns when that has been said. */
  synchronized boolean tellFailure() {
    String sentence = failure();
    if (sentence != null && !told) {
      told = true;
      System.err.println(sentence);
    }
    return sentence != null;
  }

  private void live() {
    try (StartBarrier barrier = StartBarrier.of(run.settings, run.clock::nanos)) {
      if (run.settings.awaitStart()) {
        awaitStart();
      }
      awaitInitialised();
      barrier.begin(this::stopAsked);
      run.open();
      record();
      if (run.failure() == null) {
        writes = run.settings.meet() == null;
        System.out.print(SummaryText.of(run.close(), run.scenario.ratios()));
        System.out.print(barrier.end(output, run.scenario.ratios()));
        written = true;
      }
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      run.fail(e);
    } finally {
      finished = true;
    }
  }

  /** Until the start file is there, and until the time that it tells, if it tells one. */
  private void awaitStart() throws IOException, InterruptedException {
    Path start = output.resolve("start");
    boolean ready = false;
    while (!Files.exists(start) && !stopAsked()) {
      if (!ready && initialised) {
        // What it took to start is garbage: from here on what a collection leaves is the load's.
        System.gc();
        Files.createFile(output.resolve("ready"));
        ready = true;
      }
      Thread.sleep(START_POLL_MILLIS);
    }
    String told = Files.exists(start) ? Files.readString(start).strip() : "";
    if (!told.isEmpty()) {
      long at = run.clock.nanosAt(startTime(told));
      for (long left; (left = at - run.clock.nanos()) > 0 && !stopAsked(); ) {
        TimeUnit.NANOSECONDS.sleep(Math.min(left, START_POLL_MILLIS * 1_000_000));
      }
    }
  }

  private long startTime(String told) throws IOException {
    try {
      return Long.parseLong(told);
    } catch (NumberFormatException e) {
      throw new StartBarrier.StartBarrierException(
          "The file %s holds \"%s\": give milliseconds since 1970, or an empty file. The run did not start."
              .formatted(output.resolve("start"), told));
    }
  }

  /** Others wait for this injector, and it for them: not for its code to be loaded. */
  private void awaitInitialised() throws InterruptedException {
    while (run.settings.meet() != null && !initialised && !stopAsked()) {
      Thread.sleep(START_POLL_MILLIS);
    }
  }

  private void record() throws IOException, InterruptedException {
    RunClock clock = run.clock;
    long boundary = nextSecond(clock);
    long looked = clock.nanos();
    while (!mayEnd()) {
      long now = clock.nanos();
      if (run.control.stopped()) {
        drainedNanos += Math.min(now - looked, LONGEST_LOOK_NANOS);
      }
      looked = now;
      long toBoundary = TimeUnit.NANOSECONDS.toMillis(boundary - clock.nanos()) + 1;
      Thread.sleep(Math.max(1, Math.min(POLL_MILLIS, toBoundary)));
      if (clock.nanos() >= boundary) {
        run.flush();
        boundary = nextSecond(clock);
      }
    }
  }

  private static long nextSecond(RunClock clock) {
    long second = Math.floorDiv(clock.epochMillis(clock.nanos()), SECOND_MILLIS) + 1;
    return clock.nanosAt(second * SECOND_MILLIS);
  }

  private boolean stopAsked() {
    Control control = run.control;
    if (!control.stopped() && Files.exists(output.resolve("stop"))) {
      control.stop(Control.Ending.STOP_FILE, run.clock.nanos());
    }
    return control.stopped();
  }

  private boolean mayEnd() {
    Control control = run.control;
    long now = run.clock.nanos();
    if (!stopAsked() && now >= control.deadline()) {
      control.stop(Control.Ending.TIME, now);
    }
    return run.failure() != null
        || control.drained()
        || (control.stopped() && drainedNanos > drainLimitNanos());
  }

  long drainLimitNanos() {
    return TimeUnit.MILLISECONDS.toNanos(
        run.control.ending() == Control.Ending.SIGNAL
            ? SIGNAL_GRACE_MILLIS
            : run.settings.longestWaitMillis() + DRAIN_GRACE_MILLIS);
  }

  private void onShutdown() {
    run.control.stop(Control.Ending.SIGNAL, run.clock.nanos());
    try {
      long limit = SIGNAL_GRACE_MILLIS + DRAIN_GRACE_MILLIS / 2;
      // In short waits: the time in which this process is stopped does not count.
      for (long waited = 0; thread.isAlive() && (writes || waited < limit); waited += POLL_MILLIS) {
        thread.join(POLL_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failsBeforeItsEnd() && tellFailure()) {
      // The exit code would be that of the signal, as if all were written.
      Runtime.getRuntime().halt(1);
    }
  }

  /**
   * Whether a process that ends now has failed, and nothing else says so: {@link
   * LoadSimulation#after} may not have come to that. A run may fail in the moment in which the
   * signal comes, so that its ending is either.
   */
  boolean failsBeforeItsEnd() {
    Control.Ending ending = run.control.ending();
    boolean inTime = ending != Control.Ending.SIGNAL && ending != Control.Ending.FAILURE;
    return !inTime && failure() != null;
  }
}
