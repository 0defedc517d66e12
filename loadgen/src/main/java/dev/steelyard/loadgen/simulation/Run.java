// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.recording.Cycles;
import dev.steelyard.loadgen.recording.Outcomes;
import dev.steelyard.loadgen.recording.Recorder;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.recording.RunRecord;
import dev.steelyard.loadgen.recording.Summary;
import dev.steelyard.loadgen.scenario.Scenario;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/** What the virtual users of one run share. */
final class Run {
  private static final double NANOS = 1e9;

  final Settings settings;
  final Scenario scenario;
  private final int[] operationOfStep;
  final RunClock clock;
  final Control control;
  final Recorder recorder;
  final Cycles cycles;
  private final RunRecord record;
  private final Journeys journeys;
  private final Arrivals arrivals;
  final UserPool userPool;
  private final List<OpenUser> slots = new ArrayList<>();
  private final CompletableFuture<Void> opened = new CompletableFuture<>();
  private final AtomicInteger waiting = new AtomicInteger();
  final UserTime userTime = new UserTime();

  /** By operation. */
  final LongAdder[] late;

  final LongAdder dropped = new LongAdder();
  final LongAdder refused = new LongAdder();

  /**
   * What the injector itself took of the time of closed users: from an answer until it was checked.
   */
  final LongAdder ownNanos = new LongAdder();

  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private int users;
  private volatile long startNanos = Long.MAX_VALUE;

  /**
   * Opens the files of the run.
   *
   * @throws IOException if the output folder cannot be used
   */
  Run(Settings settings, Scenario scenario, RunClock clock) throws IOException {
    this.settings = settings;
    this.clock = clock;
    this.scenario = scenario;
    List<String> operations = scenario.operations();
    operationOfStep =
        scenario.steps().stream().mapToInt(step -> operations.indexOf(step.operation())).toArray();
    control = new Control(operations.size());
    late = Control.newCounts(operations.size());
    Outcomes outcomes = new Outcomes(scenario.outcomes());
    journeys = scenario.journeys(outcomes);
    recorder = new Recorder(operations.size());
    cycles = new Cycles(operations);
    record = new RunRecord(settings, operations, clock, recorder, outcomes, cycles);
    long number = -1 - 2L * settings.injector();
    boolean open = settings.model() == Model.OPEN;
    arrivals = open ? new Arrivals(settings, User.draws(settings.seed(), number)) : null;
    int targets = settings.targets().size();
    userPool =
        new UserPool(
            targets,
            settings.injector() % targets,
            User.draws(settings.seed(), number - 1),
            clock::nanos,
            this::newOpenActiveUser);
  }

  int steps() {
    return operationOfStep.length;
  }

  int operationOf(int step) {
    return operationOfStep[step];
  }

  /** Ends the run as one that has failed. The first reason counts. */
  void fail(Throwable reason) {
    failure.compareAndSet(null, reason);
    control.stop(Control.Ending.FAILURE, clock.nanos());
  }

  /** Why the run has failed, or null. */
  Throwable failure() {
    return failure.get();
  }

  /** Has a user go on once the run is open. */
  void whenOpen(Runnable next) {
    waiting.incrementAndGet();
    var unused = opened.thenRun(next);
  }

  /** Users that wait for it, or have waited. */
  int waiting() {
    return waiting.get();
  }

  /** Begins the recording and lets the users in. */
  void open() {
    record.begin();
    opened.complete(null);
  }

  /**
   * A new user of the closed model; over the ramp, users begin at equal distances, those of all
   * injectors in turn.
   */
  synchronized ClosedUser newClosedUser() {
    start();
    int number = users++;
    long delay = nanos(settings.rampSeconds() * settings.turn(number) / settings.users());
    return new ClosedUser(this, newUser(number), startNanos + delay);
  }

  /** The user of a probe. */
  synchronized ProbeUser newProbeUser() {
    start();
    return new ProbeUser(this, newUser(users++), startNanos);
  }

  /**
   * The user of a probe's practice, with journeys that share nothing with those that count.
   *
   * @throws IOException if this host has no port for its server
   */
  PracticeUser newPracticeUser() throws IOException {
    User user = new User(settings.seed(), settings.firstUser());
    Journeys own = scenario.journeys(new Outcomes(scenario.outcomes()));
    return new PracticeUser(this, new ActiveUser(user, own.start(user), settings.targets().size()));
  }

  /** The user of a try. */
  synchronized TryUser newTryUser() {
    start();
    return new TryUser(this, newUser(users++), startNanos);
  }

  /** The newest message of a request that failed since the last call, or null. */
  String takeLastError() {
    return record.takeLastError();
  }

  /** A new slot of the open model. */
  synchronized OpenUser newOpenUser() {
    start();
    OpenUser user = new OpenUser(this);
    slots.add(user);
    return user;
  }

  /** The servers are taken in turn, as if the users of all injectors stood in one line. */
  private ActiveUser newUser(int number) {
    long index = settings.firstUser() + number;
    return activeUser(index, (int) (index % settings.targets().size()));
  }

  /** Users of the open model come as they are needed: their indexes alternate over injectors. */
  private synchronized ActiveUser newOpenActiveUser(int target) {
    return activeUser(settings.turn(users++), target);
  }

  private ActiveUser activeUser(long index, int target) {
    User user = new User(settings.seed(), index);
    return new ActiveUser(user, journeys.start(user), target);
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

  /** Writes what was recorded since the last call. */
  void flush() throws IOException {
    boolean open = settings.model() == Model.OPEN;
    long users = open ? control.inFlight() : userTime.users();
    long userNanos = userTime.nanos(clock.nanos()) - ownNanos.sum();
    record.flush(users, Control.sum(late), dropped.sum(), userNanos);
  }

  /** Writes the rest and the summary, which it returns; the run must have been stopped. */
  synchronized Summary close() throws IOException {
    boolean started = startNanos != Long.MAX_VALUE;
    if (settings.model() == Model.OPEN && started) {
      countMissedArrivals();
    }
    flush();
    long rampEnd = started ? startNanos + nanos(settings.rampSeconds()) : startNanos;
    long loadEnd = Math.min(control.stoppedAt(), control.deadline());
    return record.close(
        control.ending().text(), new RunRecord.Load(rampEnd, loadEnd), leftOver(), refused.sum());
  }

  /** What the histograms do not tell of each operation. */
  private List<RunRecord.LeftOver> leftOver() {
    return IntStream.range(0, late.length)
        .mapToObj(i -> new RunRecord.LeftOver(control.abandoned(i), late[i].sum()))
        .toList();
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
