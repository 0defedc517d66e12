// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * The one place where tests wait, and the only one with a number of seconds in it ({@code
 * scripts/tests/checks/test_waits_java.py}).
 *
 * <p>A test waits for a state. How long at most is counted in seconds of a processor that whatever
 * is waited for could have had: nothing passes while this process is frozen, and little while many
 * programs want the processors.
 */
public final class Waiting {

  /** Seconds of a processor; far more than anything takes that is waited for. */
  private static final double PATIENCE = 240;

  private static final long TICK_MILLIS = 20;

  /**
   * What passes beyond this between two looks passed while this process was stopped, and so, most
   * likely, were the others.
   */
  private static final double LONGEST_TICK = 5 * TICK_MILLIS / 1e3;

  private static final Path LOAD = Path.of("/proc/loadavg");
  private static final int CPUS = Runtime.getRuntime().availableProcessors();

  private Waiting() {}

  /** A condition that may fail with what it does. */
  @FunctionalInterface
  public interface Condition {
    boolean holds() throws IOException, InterruptedException;
  }

  /**
   * Waits until something holds.
   *
   * @param what is waited for, in words
   * @throws IllegalStateException if it does not come
   */
  public static void await(String what, Condition condition)
      throws IOException, InterruptedException {
    await(what, condition, () -> null);
  }

  /**
   * Waits until something holds.
   *
   * @param what is waited for, in words
   * @param never why it cannot come any more, as when a process has ended; null while it can
   * @throws IllegalStateException if it does not come
   */
  public static void await(String what, Condition condition, Supplier<String> never)
      throws IOException, InterruptedException {
    double spent = 0;
    long last = System.nanoTime();
    while (!condition.holds()) {
      String reason = never.get();
      if (reason == null && spent > PATIENCE) {
        reason = "not within %.0f s of a processor".formatted(PATIENCE);
      }
      if (reason != null) {
        // Once more: it may have come just before.
        if (condition.holds()) {
          return;
        }
        throw new IllegalStateException("Waited in vain until " + what + ": " + reason);
      }
      Thread.sleep(TICK_MILLIS);
      long now = System.nanoTime();
      spent += counted((now - last) / 1e9, CPUS, runnable(Files.readString(LOAD)));
      last = now;
    }
  }

  /**
   * Waits until something holds, and returns how long that took: a figure to print, which no test
   * may depend on.
   */
  public static Duration time(String what, Condition condition)
      throws IOException, InterruptedException {
    long started = System.nanoTime();
    await(what, condition);
    return Duration.ofNanos(System.nanoTime() - started);
  }

  /**
   * Waits until a process has ended, and returns its exit code.
   *
   * @throws IllegalStateException if it does not end
   */
  public static int awaitEnd(Process process) throws InterruptedException {
    try {
      await("process " + process.pid() + " has ended", () -> !process.isAlive());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return process.exitValue();
  }

  /** The seconds of a processor that others could have had since the last look. */
  static double counted(double elapsed, int cpus, int runnable) {
    return Math.min(elapsed, LONGEST_TICK) * Math.min(1, (double) cpus / runnable);
  }

  /** Threads of this host that run or want to, this one among them. */
  static int runnable(String load) {
    String threads = load.split(" ", -1)[3];
    return Math.max(1, Integer.parseInt(threads.substring(0, threads.indexOf('/'))));
  }
}
