// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.daytrader;

import static dev.steelyard.loadgen.journey.daytrader.TradeStep.ACCOUNT;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.BUY;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_ACCOUNT;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_BUY;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_HOME;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_LOGOUT;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_PORTFOLIO;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_QUOTES;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_QUOTE_PAGE;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_REGISTER;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_REGISTER_PAGE;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_SELL;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.FACES_UPDATE_PROFILE;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.HOME;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.LOGOUT;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.MARKET_SUMMARY;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.PORTFOLIO;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.QUOTES;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.REGISTER;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.REGISTER_PAGE;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.SELL;
import static dev.steelyard.loadgen.journey.daytrader.TradeStep.UPDATE_PROFILE;

import java.util.List;

/**
 * What a user does between log-in and the end of the session, and how often.
 *
 * <p>The weights are the shares that the public plan has when it runs, measured over 50,000 samples
 * of JMeter 5.6.3 (percent). They differ from the numbers that are written in it: a random
 * controller over controllers of percentages skips those whose share is used up. Selling in the
 * Faces front end never happens with JMeter 5; here it does.
 *
 * @param pages weight in the Pages front end
 * @param faces weight in the Faces front end
 * @param last whether the session ends with it
 * @param pagesSteps what is sent in the Pages front end
 * @param facesSteps what is sent in the Faces front end
 */
record Activity(
    double pages,
    double faces,
    boolean last,
    List<TradeStep> pagesSteps,
    List<TradeStep> facesSteps) {
  /**
   * In turn, a user without holdings buys before it sells, and the first last one is the longer.
   */
  static final List<Activity> ALL =
      List.of(
          new Activity(36.1, 41.5, false, List.of(QUOTES), List.of(FACES_QUOTE_PAGE, FACES_QUOTES)),
          new Activity(17.9, 17.9, false, List.of(HOME), List.of(FACES_HOME)),
          new Activity(17.3, 18.4, false, List.of(PORTFOLIO), List.of(FACES_PORTFOLIO)),
          new Activity(11.3, 11.9, false, List.of(ACCOUNT), List.of(FACES_ACCOUNT)),
          new Activity(7.5, 0, false, List.of(MARKET_SUMMARY), List.of()),
          new Activity(
              2.4,
              2.4,
              false,
              List.of(QUOTES, BUY),
              List.of(FACES_QUOTE_PAGE, FACES_QUOTES, FACES_BUY)),
          new Activity(
              2.2, 2.5, false, List.of(PORTFOLIO, SELL), List.of(FACES_PORTFOLIO, FACES_SELL)),
          new Activity(
              2.0,
              2.0,
              false,
              List.of(ACCOUNT, UPDATE_PROFILE),
              List.of(FACES_ACCOUNT, FACES_UPDATE_PROFILE)),
          new Activity(
              0.9,
              0.8,
              true,
              List.of(LOGOUT, REGISTER_PAGE, REGISTER, LOGOUT),
              List.of(
                  FACES_HOME,
                  FACES_LOGOUT,
                  FACES_REGISTER_PAGE,
                  FACES_REGISTER,
                  FACES_HOME,
                  FACES_LOGOUT)),
          new Activity(2.3, 2.6, true, List.of(LOGOUT), List.of(FACES_HOME, FACES_LOGOUT)));

  double weight(boolean inFaces) {
    return inFaces ? faces : pages;
  }

  List<TradeStep> steps(boolean inFaces) {
    return inFaces ? facesSteps : pagesSteps;
  }
}
