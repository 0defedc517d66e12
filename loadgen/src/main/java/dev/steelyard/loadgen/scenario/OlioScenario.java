// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.scenario;

import static dev.steelyard.loadgen.SettingsException.must;
import static dev.steelyard.loadgen.SettingsException.within;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.Settings.Model;
import dev.steelyard.loadgen.SettingsException;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.olio.OlioJourneys;
import dev.steelyard.loadgen.journey.olio.OlioPlan;
import dev.steelyard.loadgen.journey.olio.Uploads;
import dev.steelyard.loadgen.requests.OlioRequests;
import dev.steelyard.loadgen.requests.Step;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/** Olio, as its published driver loads it. */
final class OlioScenario implements Scenario {
  private static final int MOST_USERS = 100_000;

  private final Settings settings;
  private final OlioPlan plan;
  private final List<Step> steps;

  /** Its parameters; what they mean is told by {@link OlioPlan}. */
  record Parameters(Integer scale, String today) {
    Parameters {
      within("scale", scale, 1, MOST_USERS);
    }

    LocalDate day() {
      try {
        return LocalDate.parse(today);
      } catch (DateTimeParseException e) {
        throw must("parameters.today", today, "a date such as \"2026-06-15\"");
      }
    }
  }

  /**
   * @throws SettingsException if its parameters are not right, or if there are more users than the
   *     data was loaded for
   */
  OlioScenario(Settings settings) {
    this.settings = settings;
    Map<String, Object> given = settings.parameters();
    given.putIfAbsent("scale", 25);
    given.putIfAbsent("today", "2026-06-15");
    Parameters parameters =
        SettingsReader.bind(SettingsReader.JSON.valueToTree(given), Parameters.class, "parameters");
    int scale = Math.max(25, parameters.scale());
    int users = settings.users() == null ? scale : settings.users();
    if (users > scale) {
      throw must("users", users, "at most %d, the scale of the data".formatted(scale));
    }
    plan =
        new OlioPlan(
            scale,
            users,
            parameters.day(),
            OlioPlan.firstNew(scale, settings.injectors(), System.currentTimeMillis() / 1000),
            settings.model() == Model.PROBE);
    steps = OlioRequests.steps(Uploads.drawn());
  }

  @Override
  public List<Step> steps() {
    return steps;
  }

  @Override
  public List<String> outcomes() {
    return OlioJourneys.OUTCOMES;
  }

  @Override
  public List<Ratio> ratios() {
    return List.of(
        new Ratio("images listed per home page", "home-image-listed", "home-page"),
        new Ratio("images loaded per home page", "home-image-loaded", "home-page"),
        new Ratio("kilobytes of images loaded per home page", "home-image-kilobyte", "home-page"),
        new Ratio("images listed per tag search", "tag-image-listed", "tag-search"),
        new Ratio("images listed per event", "event-image-listed", "event-detail"),
        new Ratio("attendees added per event", "attendee-added", "event-detail"));
  }

  @Override
  public Journeys journeys(IntConsumer outcomes) {
    return new OlioJourneys(plan, settings.injector(), settings.injectors(), outcomes);
  }
}
