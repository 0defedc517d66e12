// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.Consumer;

/**
 * What all connections together hold of bodies that checks are to read once they are complete.
 * Thread-safe.
 */
public final class HeldBodies {
  /**
   * Share of the JVM's maximum heap; as large is the default limit of memory outside of it, where
   * Netty keeps them.
   */
  private static final double LIMIT_SHARE = 0.5;

  private static final double MIB = 1 << 20;

  private static final AtomicReference<HeldBodies> CURRENT =
      new AtomicReference<>(new HeldBodies(limitBytes(), failure -> {}));

  private final long limit;
  private final Consumer<Throwable> onFailure;
  private final AtomicLong bytes = new AtomicLong();
  private final LongAccumulator peak = new LongAccumulator(Math::max, 0);

  HeldBodies(long limit, Consumer<Throwable> onFailure) {
    this.limit = limit;
    this.onFailure = onFailure;
  }

  private static long limitBytes() {
    return (long) (LIMIT_SHARE * Runtime.getRuntime().maxMemory());
  }

  /**
   * Begins to count anew, for the run of this process.
   *
   * @param onFailure is told why the run has failed: too many bytes, or no memory at all
   */
  public static void watch(Consumer<Throwable> onFailure) {
    CURRENT.set(new HeldBodies(limitBytes(), onFailure));
  }

  static HeldBodies current() {
    return CURRENT.get();
  }

  /** Most bytes held since the last call over those allowed, 0 to 1. */
  public static double takePeakShare() {
    HeldBodies current = current();
    long most = Math.max(current.peak.getThenReset(), current.bytes.get());
    return (double) most / current.limit;
  }

  /** Tells the run why it has failed. */
  public static void reportFailure(Throwable reason) {
    current().fail(reason);
  }

  void add(int more) {
    long now = bytes.addAndGet(more);
    peak.accumulate(now);
    if (now > limit) {
      fail(
          new InjectorMemoryException(
              "answers in flight that checks read hold %.0f MiB, and %.0f MiB are allowed"
                  .formatted(now / MIB, limit / MIB)));
    }
  }

  void remove(long fewer) {
    if (fewer > 0) {
      bytes.addAndGet(-fewer);
    }
  }

  void fail(Throwable reason) {
    onFailure.accept(reason);
  }
}
