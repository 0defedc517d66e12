// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.requests.Step;
import dev.steelyard.loadgen.scenario.Scenario;
import dev.steelyard.loadgen.scenario.Scenarios;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.function.IntConsumer;

/** The injector's program with a scenario that breaks after some operations of a user. */
final class BrokenInjector {
  private static final int RIGHT = 5;

  private BrokenInjector() {}

  /** Its journeys throw when they learn how an operation ended. */
  static final class Ended {
    private Ended() {}

    public static void main(String[] arguments) throws Exception {
      run(arguments, false, true);
    }
  }

  /** Its journeys throw when they are to decide. */
  static final class Next {
    private Next() {}

    public static void main(String[] arguments) throws Exception {
      run(arguments, true, false);
    }
  }

  /** One of its steps has an operation that nobody has told the recorder of. */
  static final class Unrecorded {
    private Unrecorded() {}

    public static void main(String[] arguments) throws Exception {
      run(arguments, false, false);
    }
  }

  private static void run(String[] arguments, boolean next, boolean ended) throws Exception {
    Settings settings = SettingsReader.read(Path.of(arguments[0]), Instant.now());
    Scenario right = Scenarios.of(settings);
    Main.run(settings, new Broken(right, next, ended));
  }

  private record Broken(Scenario right, boolean next, boolean ended) implements Scenario {
    @Override
    public List<Step> steps() {
      return right.steps();
    }

    @Override
    public List<String> operations() {
      return next || ended ? right.operations() : List.of();
    }

    @Override
    public Journeys journeys(IntConsumer outcomes) {
      Journeys journeys = right.journeys(outcomes);
      return user -> new BrokenJourney(journeys.start(user));
    }

    private final class BrokenJourney implements Journey {
      private final Journey journey;
      private int operations;

      BrokenJourney(Journey journey) {
        this.journey = journey;
      }

      @Override
      public int next() {
        if (next && operations == RIGHT) {
          throw new IllegalStateException("next is broken");
        }
        return journey.next();
      }

      @Override
      public void ended(boolean failed) {
        operations++;
        if (ended && operations == RIGHT) {
          throw new IllegalStateException("ended is broken");
        }
        journey.ended(failed);
      }
    }
  }
}
