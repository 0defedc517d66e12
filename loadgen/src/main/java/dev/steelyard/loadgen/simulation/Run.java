// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.recording.Outcomes;
import dev.steelyard.loadgen.recording.Recorder;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.recording.RunRecord;
import dev.steelyard.loadgen.recording.Summary;
import dev.steelyard.loadgen.scenario.Workload;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;

/** What the virtual users of one run share. */
final class Run {
  private static final double NANOS = 1e9;

  private final Settings settings;
  private final Workload workload;
  private final RunClock clock = new RunClock();
  private final Control control = new Control();
  private final Recorder recorder;
  private final RunRecord record;
  private final SplittableRandom random;
  private final Journeys journeys;
  private final Arrivals arrivals;
  private final VisitorPool visitors;
  private final List<OpenUser> slots = new ArrayList<>();
  private final AtomicInteger activeUsers = new AtomicInteger();
  private final LongAdder late = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private int users;
  private volatile long startNanos = Long.MAX_VALUE;

  /**
   * Opens the files of the run.
   *
   * @throws IOException if the output folder cannot be used
   */
  Run(Settings settings, Workload workload) throws IOException {
    this.settings = settings;
    this.workload = workload;
    Outcomes outcomes = new Outcomes(workload.outcomes());
    journeys = workload.journeys(settings, outcomes);
    recorder = new Recorder(operations());
    record = new RunRecord(settings, workload.operationNames(), clock, recorder, outcomes);
    SplittableRandom root = new SplittableRandom(settings.seed());
    for (int i = 0; i < settings.injector(); i++) {
      root.split();
    }
    random = root.split();
    arrivals =
        new Arrivals(settings.rate(), settings.rampSeconds(), settings.arrivals(), random.split());
    int targets = settings.targets().size();
    visitors =
        new VisitorPool(
            targets, settings.injector() % targets, random.split(), visitorsOf(random.split()));
  }

  Settings settings() {
    return settings;
  }

  Workload workload() {
    return workload;
  }

  int operations() {
    return workload.operations().size();
  }

  /** Visitors of the open model. */
  VisitorPool visitors() {
    return visitors;
  }

  RunClock clock() {
    return clock;
  }

  Control control() {
    return control;
  }

  Recorder recorder() {
    return recorder;
  }

  /** A new user of the closed model; over the ramp, users begin at equal distances. */
  synchronized ClosedUser newClosedUser() {
    start();
    double delayMillis = 1000 * settings.rampSeconds() * users / settings.users();
    Duration delay = Duration.ofMillis(Math.round(delayMillis));
    Visitor visitor = new Visitor(journeys.start(random.split()), nextTarget());
    return new ClosedUser(this, visitor, random.split(), delay);
  }

  /** A new slot of the open model. */
  synchronized OpenUser newOpenUser() {
    start();
    OpenUser user = new OpenUser(this);
    slots.add(user);
    return user;
  }

  /** Counts a closed user that enters its loop. */
  void closedUserJoins() {
    activeUsers.incrementAndGet();
  }

  /** Counts a closed user that has left its loop. */
  void closedUserLeaves() {
    activeUsers.decrementAndGet();
  }

  private IntFunction<Visitor> visitorsOf(SplittableRandom seeds) {
    return target -> new Visitor(journeys.start(seeds.split()), target);
  }

  /** Round robin, as if the users of all injectors stood in one line, injector by injector. */
  private int nextTarget() {
    long before = (long) settings.injector() * settings.users();
    return (int) ((before + users++) % settings.targets().size());
  }

  /** The load starts with its first user. */
  private void start() {
    if (startNanos == Long.MAX_VALUE) {
      long now = clock.nanos();
      record.loadStarts();
      recorder.rampEndsAt(now + nanos(settings.rampSeconds()));
      control.endAt(now + nanos(settings.totalSeconds()));
      startNanos = now;
    }
  }

  private static long nanos(double seconds) {
    return Math.round(seconds * NANOS);
  }

  /** The time of the next arrival that nobody has reserved yet. */
  long nextArrival() {
    return startNanos + arrivals.next();
  }

  void countLate() {
    late.increment();
  }

  void countDropped() {
    dropped.increment();
  }

  /** Writes what was recorded since the last call. */
  void flush() throws IOException {
    long active = settings.model() == Model.CLOSED ? activeUsers.get() : control.inFlight();
    record.flush(active, late.sum(), dropped.sum());
  }

  /** Writes the rest and the summary, which it returns; the run must have been stopped. */
  synchronized Summary close() throws IOException {
    if (settings.model() == Model.OPEN && startNanos != Long.MAX_VALUE) {
      countMissedArrivals();
    }
    flush();
    long rampEnd =
        startNanos == Long.MAX_VALUE ? startNanos : startNanos + nanos(settings.rampSeconds());
    return record.close(control.ending().text(), rampEnd, control.inFlight());
  }

  /**
   * Arrivals that were due before the end, but that no slot sent: those reserved, and those still
   * in line.
   */
  private void countMissedArrivals() {
    long end = Math.min(control.stoppedAt(), control.deadline());
    dropped.add(slots.stream().filter(slot -> slot.missed(end)).count());
    long graceNanos = RunRecord.LATE_MILLIS * 1_000_000;
    while (nextArrival() < end - graceNanos) {
      dropped.increment();
    }
  }
}
