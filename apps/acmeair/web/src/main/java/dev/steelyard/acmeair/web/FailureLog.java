// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.web;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.logging.Logger;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Says why something fails, in one line: the first time that a cause is seen, then the tenth, the
 * hundredth and so on, so that an outage under load says what it is and fills no disk.
 */
public final class FailureLog {

  private static final Logger LOG = Logger.getLogger(FailureLog.class.getName());

  /** What comes on top is another cause of a kind that is known already, as good as ever. */
  private static final int MOST_CAUSES = 100;

  private final String what;
  private final Consumer<String> lines;
  private final Map<String, AtomicLong> seen = new ConcurrentHashMap<>();

  /**
   * Lines are warnings of the server's log.
   *
   * @param what failed, the beginning of each line
   */
  public FailureLog(String what) {
    this(what, LOG::warning);
  }

  FailureLog(String what, Consumer<String> lines) {
    this.what = what;
    this.lines = lines;
  }

  /** Counts a failure, and says so if it is its turn. */
  public void tell(Throwable failure) {
    String kind = chain(failure).map(each -> each.getClass().getName()).collect(joined());
    if (seen.size() >= MOST_CAUSES && !seen.containsKey(kind)) {
      return;
    }
    long times = seen.computeIfAbsent(kind, key -> new AtomicLong()).incrementAndGet();
    if (powerOfTen(times)) {
      String causes = chain(failure).map(Throwable::toString).collect(joined());
      lines.accept("%s (%d so far): %s".formatted(what, times, causes.replaceAll("\\s+", " ")));
    }
  }

  private static Stream<Throwable> chain(Throwable failure) {
    return Stream.iterate(failure, each -> each != null, Throwable::getCause).limit(8);
  }

  private static Collector<CharSequence, ?, String> joined() {
    return Collectors.joining(", since ");
  }

  private static boolean powerOfTen(long number) {
    return number == 1 || (number % 10 == 0 && powerOfTen(number / 10));
  }
}
