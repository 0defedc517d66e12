// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.Pause;
import dev.steelyard.loadgen.journey.User;
import java.util.Arrays;
import java.util.List;

/**
 * Plays a declared journey for one user. Between {@link #next} and {@link #ended}, the requests
 * take the values of variables from here, and {@link #save} what answers said.
 */
public final class DeclaredJourney implements Journey {
  private final DeclaredJourneys shared;
  private final User user;
  private final String[] values;

  private DeclaredJourneys.Visit visit;
  private int position;
  private int turn;
  private Pause pause;

  DeclaredJourney(DeclaredJourneys shared, User user) {
    this.shared = shared;
    this.user = user;
    values = new String[shared.slots];
  }

  @Override
  public int next() {
    if (visit == null) {
      begin();
    }
    return visit.first() + position;
  }

  private void begin() {
    int chosen = shared.inTurn ? turn++ % shared.visits.length : shared.mix.draw(user.random());
    visit = shared.visits[chosen];
    position = 0;
    Arrays.fill(values, null);
    for (int i = 0; i < shared.draws.size(); i++) {
      values[i] = shared.draws.get(i).apply(user);
    }
    if (visit.declared().forgetCookies()) {
      user.cookies().clear();
    }
  }

  @Override
  public void ended(boolean failed) {
    List<JourneySpec.Step> steps = visit.declared().steps();
    JourneySpec.Step step = steps.get(position++);
    pause = step.pause();
    if ((failed && !step.optional()) || position == steps.size()) {
      visit = null;
    }
  }

  @Override
  public Pause pause() {
    return pause;
  }

  /** The text of a template. */
  public String text(Template template) {
    return template.of(values);
  }

  /** Keeps what an answer said for the rest of the visit; null for nothing. */
  public void save(int slot, String value) {
    values[slot] = value;
  }
}
