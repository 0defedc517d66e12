// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.loadgen.journey.Mix;
import dev.steelyard.loadgen.journey.Pause;
import java.time.Duration;
import java.util.List;

/** The operations, in the order of their indexes, with what follows each and when. */
@SuppressWarnings("ImmutableEnumChecker") // pauses and mixes do not change
public enum OlioStep {
  /** Looks at the next events. */
  HOME_PAGE("home-page", 0, 0, 11, 52, 36, 0, 1, 0),
  /** Logs in as one of the user's own persons, after a log-out if need be. */
  LOGIN("login", 0, 0, 0, 60, 20, 0, 0, 20),
  /** Asks for the events of a tag. */
  TAG_SEARCH("tag-search", 0, 21, 6, 41, 31, 0, 1, 0),
  /** Looks at an event, and may attend it. */
  EVENT_DETAIL("event-detail", 0, 72, 21, 0, 0, 6, 1, 0),
  /** Looks at a person. */
  PERSON_DETAIL("person-detail", 0, 52, 6, 0, 31, 11, 0, 0),
  /** Registers, with a picture. */
  ADD_PERSON("add-person", 2, 0, 0, 0, 0, 100, 0, 0),
  /** Adds an event, with a picture and a document. */
  ADD_EVENT("add-event", 3, 0, 0, 0, 100, 0, 0, 0);

  /** All, by their index. */
  public static final List<OlioStep> ALL = List.of(values());

  private final String operation;
  private final Pause cycle;
  private final Mix next;

  /**
   * Cycle times have a mean of 5 s and are cut at five of that.
   *
   * @param least seconds of the shortest cycle time
   * @param percent of what comes after it, by index
   */
  OlioStep(String operation, long least, double... percent) {
    this.operation = operation;
    cycle =
        new Pause(
            null,
            Duration.ofSeconds(5),
            Pause.Distribution.EXPONENTIAL,
            Duration.ofSeconds(least),
            Duration.ofSeconds(25),
            null);
    next = new Mix(percent);
  }

  /** Name in settings, logs and reports. */
  public String operation() {
    return operation;
  }

  /** From its start to the start of the user's next operation. */
  Pause cycle() {
    return cycle;
  }

  /** Draws what comes after it. */
  Mix next() {
    return next;
  }
}
