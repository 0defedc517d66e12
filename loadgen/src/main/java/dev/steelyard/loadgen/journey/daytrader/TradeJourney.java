// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.daytrader;

import static java.util.Map.entry;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The journey of one user: log in as the next user number, in one of the front ends; activities by
 * weight; a log-out or a registration ends the session, and the next begins. Cookies are never
 * cleared, as in the plan.
 *
 * <p>An error ends the activity, and the session if it was a log-in or the activity was the last.
 *
 * <p>The plan asks for quotes with the parameter {@code symbol}, which the application does not
 * know: the page that comes back has no quote and needs no table of them. That is more than a third
 * of the operations; whoever corrects it has another workload. Before a purchase it is {@code
 * symbols}.
 */
public final class TradeJourney implements Journey {
  private static final Pattern HOLDING = Pattern.compile("holdingID=([0-9]+)");
  private static final Pattern HOLDINGS = Pattern.compile("of Holdings: </b>([1-9][0-9]*)</td>");

  /** The order's status in its cell: what a page says of the word elsewhere is not meant. */
  private static final Pattern CANCELLED = Pattern.compile(">\\s*cancelled\\s*<");

  private static final Pattern SYMBOL = Pattern.compile("s:[0-9]+");
  private static final Pattern VIEW_STATE =
      Pattern.compile("name=\"((?:jakarta|javax)\\.faces\\.ViewState)\"[^>]* value=\"([^\"]+)\"");
  private static final String SOME_SYMBOLS = "s:0,s:1,s:2,s:3,s:4";
  private static final String MONEY = "1000000";
  private static final String CARD = "123-fake-ccnum-456";
  private static final Set<TradeStep> LOG_INS =
      EnumSet.of(TradeStep.LOGIN, TradeStep.FACES_WELCOME, TradeStep.FACES_LOGIN);
  private static final int ROWS = 5;
  private static final int MOST_SHARES = 200;

  private final TradeJourneys shared;
  private final User self;
  private final SplittableRandom random;

  private final Deque<TradeStep> rest = new ArrayDeque<>();
  private TradeStep step;
  private boolean faces;
  private boolean over = true;
  private int activities;
  private int registrations;
  private String user;
  private String symbol;

  /** The holding to sell; in the Faces front end, any text if there is one. */
  private String holding;

  /** Name and value of the hidden field; that of an older page if the last had none. */
  private Map.Entry<String, String> viewState = entry("javax.faces.ViewState", "");

  /** A holding that was gone: what the answer in flight says counts only if nothing is wrong. */
  private boolean cancelled;

  TradeJourney(TradeJourneys shared, User self) {
    this.shared = shared;
    this.self = self;
    random = self.random();
  }

  @Override
  public int next() {
    if (rest.isEmpty()) {
      choose();
    }
    step = rest.removeFirst();
    if (step == TradeStep.QUOTES || step == TradeStep.FACES_QUOTES) {
      symbol = "s:" + random.nextInt(shared.plan.quotes());
    }
    if (step == TradeStep.REGISTER || step == TradeStep.FACES_REGISTER) {
      registrations++;
    }
    holding = step == TradeStep.SELL || step == TradeStep.FACES_SELL ? holding : null;
    cancelled = false;
    return TradeStep.ALL.indexOf(step);
  }

  private void choose() {
    if (over) {
      long session = shared.nextSession();
      user = "uid:" + shared.userOf(session);
      faces = shared.inFaces(session);
      activities = 0;
      over = false;
      rest.addAll(
          faces
              ? List.of(TradeStep.FACES_WELCOME, TradeStep.FACES_LOGIN)
              : List.of(TradeStep.LOGIN));
    } else {
      Activity activity = shared.draw(random, faces, activities++);
      rest.addAll(activity.steps(faces));
      over = activity.last();
    }
  }

  /** Fields of the request's query or form, in order. */
  public List<Map.Entry<String, Object>> fields() {
    List<Map.Entry<String, Object>> fields = new ArrayList<>();
    if (step.faces() && step.post() && step != TradeStep.FACES_WELCOME) {
      fields.add(entry(viewState.getKey(), viewState.getValue()));
    }
    fields.addAll(own());
    return fields;
  }

  private List<Map.Entry<String, Object>> own() {
    return switch (step) {
      case LOGIN -> action("login", entry("uid", user), entry("passwd", "xxx"));
      case QUOTES ->
          action("quotes", entry(rest.peek() == TradeStep.BUY ? "symbols" : "symbol", symbol));
      case HOME -> action("home");
      case PORTFOLIO -> action("portfolio");
      case ACCOUNT -> action("account");
      case BUY -> action("buy", entry("symbol", symbol), entry("quantity", shares()));
      case SELL -> action("sell", entry("holdingID", holding));
      case UPDATE_PROFILE ->
          action(
              "update_profile",
              entry("userID", user),
              entry("fullname", fullName()),
              entry("password", "xxx"),
              entry("address", "rndAddress"),
              entry("cpassword", "xxx"),
              entry("creditcard", "rndCC"),
              entry("email", "rndEmail"));
      case REGISTER ->
          action(
              "register",
              entry("Full Name", someName()),
              entry("snail mail", someName()),
              entry("email", email()),
              entry("user id", newUser()),
              entry("passwd", "yyy"),
              entry("confirm passwd", "yyy"),
              entry("money", MONEY),
              entry("Credit Card Number", CARD));
      case LOGOUT -> action("logout");
      case FACES_LOGIN ->
          form("login", entry("password", "xxx"), entry("submit", "Log in"), entry("uid", user));
      case FACES_QUOTES -> quotesForm();
      case FACES_BUY ->
          form(
              "quotes",
              entry("symbols", symbol),
              entry("quotes:0:quantity", shares()),
              entry("quotes:0:buy", "buy"));
      case FACES_SELL ->
          form("portfolio", link("portfolio:holdings:0:sell"), entry("symbols", SOME_SYMBOLS));
      case FACES_UPDATE_PROFILE ->
          form(
              "updateProfile",
              entry("uid", user),
              entry("fullname", fullName()),
              entry("password", "xxx"),
              entry("address", "rndAddress"),
              entry("cpassword", "xxx"),
              entry("ccn", "rndCC"),
              entry("email", "rndEmail"),
              entry("submit", "Update Profile"),
              entry("symbols", SOME_SYMBOLS));
      case FACES_REGISTER ->
          form(
              "register",
              entry("fullname", someName()),
              entry("address", someName()),
              entry("email", email()),
              entry("uid", newUser()),
              entry("password", "yyy"),
              entry("cpassword", "yyy"),
              entry("money", MONEY),
              entry("ccn", CARD),
              entry("submit", "Register"));
      case FACES_LOGOUT ->
          form("tradeHome", link("tradeHome:logoff"), entry("symbols", SOME_SYMBOLS));
      default -> List.of();
    };
  }

  @SafeVarargs
  private static List<Map.Entry<String, Object>> action(
      String action, Map.Entry<String, Object>... more) {
    List<Map.Entry<String, Object>> fields = new ArrayList<>();
    fields.add(entry("action", action));
    for (Map.Entry<String, Object> field : more) {
      fields.add(field);
    }
    return fields;
  }

  /** Fields of a Faces form: each bears the form's name before its own. */
  @SafeVarargs
  private static List<Map.Entry<String, Object>> form(
      String form, Map.Entry<String, Object>... fields) {
    List<Map.Entry<String, Object>> named = new ArrayList<>();
    for (Map.Entry<String, Object> field : fields) {
      named.add(entry(form + ":" + field.getKey(), field.getValue()));
    }
    named.add(entry(form + "_SUBMIT", "1"));
    return named;
  }

  private static Map.Entry<String, Object> link(String id) {
    return entry("_idcl", id);
  }

  private List<Map.Entry<String, Object>> quotesForm() {
    List<Map.Entry<String, Object>> fields =
        form("quotes", entry("symbols", symbol), entry("submit2", "quotes"));
    for (int row = 0; row < ROWS; row++) {
      fields.add(entry("quotes:quotes:" + row + ":quantity", "100"));
    }
    return fields;
  }

  private String shares() {
    return Integer.toString(1 + random.nextInt(MOST_SHARES));
  }

  private String fullName() {
    return "rnd" + (self.index() + 1) + user.substring("uid:".length());
  }

  private String someName() {
    return "first:%d last:%d".formatted(random.nextInt(1000), random.nextInt(5000));
  }

  private String email() {
    return "%s@%d.com".formatted(user, random.nextInt(101));
  }

  private String newUser() {
    return "ru:%d:%s:%d".formatted(self.index(), shared.run, registrations);
  }

  /**
   * Reads the body of an answer.
   *
   * @throws WrongAnswer if it does not show what it has to
   */
  public void answer(String body) {
    if (!body.contains(step.text())) {
      throw new WrongAnswer("the page has not \"" + step.text() + "\"");
    }
    switch (step) {
      case PORTFOLIO -> holding = rest.isEmpty() ? null : oneOf(HOLDING.matcher(body));
      case LOGOUT -> {
        // The same page answers a user whose session was lost.
        if (body.contains("User Not Logged in")) {
          throw new WrongAnswer("nobody was logged in");
        }
      }
      case SELL -> cancelled = CANCELLED.matcher(body).find();
      case FACES_PORTFOLIO -> holding = HOLDINGS.matcher(body).find() ? "the first" : null;
      case FACES_QUOTES -> {
        Matcher shown = SYMBOL.matcher(body);
        symbol = shown.find() ? shown.group() : symbol;
      }
      default -> {}
    }
    if (step.faces()) {
      Matcher field = VIEW_STATE.matcher(body);
      if (field.find()) {
        viewState = entry(field.group(1), field.group(2));
      }
    }
  }

  private String oneOf(Matcher matcher) {
    List<MatchResult> found = matcher.results().toList();
    return found.isEmpty() ? null : found.get(random.nextInt(found.size())).group(1);
  }

  @Override
  public void ended(boolean failed) {
    boolean selling = rest.peek() == TradeStep.SELL || rest.peek() == TradeStep.FACES_SELL;
    if (failed) {
      rest.clear();
      over |= LOG_INS.contains(step);
    } else if (selling && holding == null) {
      shared.count(TradeJourneys.NOTHING_TO_SELL);
      rest.clear();
    } else if (cancelled) {
      shared.count(TradeJourneys.SALE_CANCELLED);
    }
  }
}
