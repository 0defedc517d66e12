// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What counting adds to a request: two readings of the clock, the lookup of the operation and the
 * counters. Beside it the clock alone, which is the floor that any timing has to pay.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CountingBenchmark {

  private final OperationCounters counters = new OperationCounters(Set.of("ping"));

  /** The whole cost, by one thread. */
  @Benchmark
  @Threads(1)
  public void countedByOneThread() {
    count();
  }

  /** The whole cost, by as many threads as there are processors, all on the same counters. */
  @Benchmark
  @Threads(Threads.MAX)
  public void countedByAllThreads() {
    count();
  }

  /** Two readings of the clock and nothing else. */
  @Benchmark
  @Threads(1)
  public long clockAlone() {
    long start = System.nanoTime();
    return System.nanoTime() - start;
  }

  /** Reading all the counters, as is done once a second. */
  @Benchmark
  @Threads(1)
  public Map<String, OperationCounters.Totals> reading() {
    return counters.totals();
  }

  private void count() {
    long start = System.nanoTime();
    counters.record("ping", System.nanoTime() - start, false);
  }
}
