// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.daytrader;

import dev.steelyard.loadgen.journey.Journeys;
import dev.steelyard.loadgen.journey.Mix;
import dev.steelyard.loadgen.journey.User;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/** What the users of an injector share: the next user number, and the weights. Thread-safe. */
public final class TradeJourneys implements Journeys {
  /** Outcomes, by their index. */
  public static final List<String> OUTCOMES = List.of("nothing-to-sell", "sale-cancelled");

  /** Index of the outcome of a list of holdings that was empty when one was to be sold. */
  static final int NOTHING_TO_SELL = 0;

  /** Index of the outcome of a sale whose holding was gone. */
  static final int SALE_CANCELLED = 1;

  final TradePlan plan;

  /** Part of the names of new users, so that another run against the same data has others. */
  final String run;

  private final int injector;
  private final int injectors;
  private final IntConsumer outcomes;
  private final Mix pages = mix(false);
  private final Mix faces = mix(true);
  private final AtomicLong sessions = new AtomicLong();

  /**
   * @param plan frame of the journeys
   * @param injector index of the injector
   * @param injectors number of them: they share out the users, so that no two act for the same
   * @param run a text that no other run has
   * @param outcomes is given the index of each outcome that is met
   */
  public TradeJourneys(
      TradePlan plan, int injector, int injectors, String run, IntConsumer outcomes) {
    this.plan = plan;
    this.injector = injector;
    this.injectors = injectors;
    this.run = run;
    this.outcomes = outcomes;
  }

  private static Mix mix(boolean faces) {
    return new Mix(Activity.ALL.stream().mapToDouble(each -> each.weight(faces)).toArray());
  }

  @Override
  public TradeJourney start(User user) {
    return new TradeJourney(this, user);
  }

  /** The number of the next session of this injector. */
  long nextSession() {
    return sessions.getAndIncrement();
  }

  /** The number of the user of a session. */
  long userOf(long session) {
    return (session * injectors + injector) % plan.users();
  }

  /**
   * Whether a session is one of the Faces front end: spread evenly over all, as the plan's
   * percentages are. Drawn, few sessions of many requests each would make the mix swing.
   */
  boolean inFaces(long session) {
    int both = plan.pagesSessions() + plan.facesSessions();
    if (plan.inTurn() && plan.facesSessions() > 0 && plan.pagesSessions() > 0) {
      return session % 2 == 1;
    }
    return (session + 1) * plan.facesSessions() / both > session * plan.facesSessions() / both;
  }

  /**
   * The next activity of a session.
   *
   * @param turn in the session, from 0
   */
  Activity draw(SplittableRandom random, boolean inFaces, int turn) {
    if (!plan.inTurn()) {
      return Activity.ALL.get((inFaces ? faces : pages).draw(random));
    }
    return Activity.ALL.stream().filter(each -> !each.steps(inFaces).isEmpty()).toList().get(turn);
  }

  void count(int outcome) {
    outcomes.accept(outcome);
  }
}
