// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.journey.User;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Deals out the rows of a feeder to the users of this injector. Thread-safe. */
final class Feeder {
  private final String name;
  private final FeederSpec spec;
  private final int injector;
  private final int injectors;
  private final int firstSlot;
  private final AtomicLong taken = new AtomicLong();

  /**
   * @param injector index of this injector, and {@code injectors} their number: they take rows in
   *     turn
   * @param firstSlot where the value of its first column is kept
   */
  Feeder(String name, FeederSpec spec, int injector, int injectors, int firstSlot) {
    this.name = name;
    this.spec = spec;
    this.injector = injector;
    this.injectors = injectors;
    this.firstSlot = firstSlot;
  }

  /**
   * Puts the values of a row where a visit finds them.
   *
   * @throws IllegalStateException if there is no row left: the run cannot go on
   */
  void fill(Object[] values, User user) {
    int count = spec.rows().size();
    List<String> row =
        switch (spec.order()) {
          case RANDOM -> spec.rows().get(user.random().nextInt(count));
          case CIRCULAR -> spec.rows().get((int) (next() % count));
          case ROWS -> existing(next(), "all %d rows were taken".formatted(count));
          case USER ->
              existing(
                  user.index(),
                  "user %d has no row of its own, there are %d".formatted(user.index(), count));
        };
    for (int i = 0; i < row.size(); i++) {
      values[firstSlot + i] = row.get(i);
    }
  }

  private long next() {
    return taken.getAndIncrement() * injectors + injector;
  }

  private List<String> existing(long index, String otherwise) {
    if (index >= spec.rows().size()) {
      throw new IllegalStateException(
          "Feeder %s: %s: give it more rows, or the order circular".formatted(name, otherwise));
    }
    return spec.rows().get((int) index);
  }
}
