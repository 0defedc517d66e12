// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.olio.Settings;
import dev.steelyard.olio.Stats;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Parts of pages that are the same for everybody, kept in this JVM for two minutes or until an
 * event is posted, changed or deleted here. One that is missing is made once, however many ask for
 * it.
 */
@ApplicationScoped
public class Fragments {

  private static final long LIFETIME = TimeUnit.SECONDS.toNanos(120);

  private static final class Slot {
    private String text;
    private long made;
  }

  private final Map<String, Slot> slots = new ConcurrentHashMap<>();
  private boolean on;
  private Stats stats;
  private LongSupplier clock;

  /** For the container. */
  protected Fragments() {}

  @Inject
  Fragments(Settings settings, Stats stats) {
    this(settings.cache(), stats, System::nanoTime);
  }

  Fragments(boolean on, Stats stats, LongSupplier clock) {
    this.on = on;
    this.stats = stats;
    this.clock = clock;
  }

  /** What is kept under a key, or what is made now. */
  public String get(String key, Supplier<String> maker) {
    if (!on) {
      return maker.get();
    }
    // What is made while everything is forgotten stays in a slot that nobody finds any more.
    Slot slot = slots.computeIfAbsent(key, each -> new Slot());
    synchronized (slot) {
      boolean kept = slot.text != null && clock.getAsLong() - slot.made < LIFETIME;
      stats.add(kept ? Stats.Count.CACHE_HITS : Stats.Count.CACHE_MISSES);
      if (!kept) {
        slot.text = maker.get();
        slot.made = clock.getAsLong();
      }
      return slot.text;
    }
  }

  /** Forgets everything. */
  public void clear() {
    slots.clear();
  }
}
