// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.Pause;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.WrongAnswer;
import dev.steelyard.loadgen.journey.olio.Fetch.Kind;
import dev.steelyard.loadgen.journey.olio.OlioJourneys.Outcome;
import dev.steelyard.olio.population.Names;
import dev.steelyard.olio.population.Scale;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The journey of one user. From {@link #begin} to {@link #ended} the operation's requests are taken
 * one after the other from {@link #fetch}, and their answers given back: what comes next may depend
 * on them.
 *
 * <p>It begins with the home page, and so it does after an error of that page or of a log-in: the
 * chain would ask for an event that nobody showed, or add one without a log-in.
 */
public final class OlioJourney implements Journey {
  /** The application's context root. */
  public static final String ROOT = "/olio";

  private static final Pattern EVENT =
      Pattern.compile("href=\"[^\"]*/event/detail\\?socialEventID=(\\d+)\"");
  private static final Pattern IMAGE =
      Pattern.compile(
          "<img\\b[^>]* src=\"(" + ROOT + "/access-artifacts/[^\"]*jpg[^\"]*)\"[^>]*/>");
  private static final String LOGGED_OUT = "Username";
  private static final String MAY_ATTEND = "data-attending=\"false\"";
  private static final double ATTENDS = 0.1;
  private static final int OWN_PERSONS = 100;
  private static final int KILOBYTE = 1000;

  /** For a probe: an event after its page, a log-in before it adds one. */
  private static final List<OlioStep> IN_TURN =
      List.of(
          OlioStep.HOME_PAGE,
          OlioStep.TAG_SEARCH,
          OlioStep.EVENT_DETAIL,
          OlioStep.PERSON_DETAIL,
          OlioStep.LOGIN,
          OlioStep.ADD_EVENT,
          OlioStep.ADD_PERSON);

  private final OlioJourneys shared;
  private final User self;
  private final SplittableRandom random;
  private final Browser browser;

  private final Deque<Fetch> rest = new ArrayDeque<>();
  private final List<Outcome> met = new ArrayList<>();
  private OlioStep step;
  private boolean startsOver = true;
  private int turn;
  private String user;
  private String event;
  private int homeBytes;

  OlioJourney(OlioJourneys shared, User self) {
    this.shared = shared;
    this.self = self;
    random = self.random();
    browser = new Browser(random);
  }

  @Override
  public int next() {
    if (shared.plan.inTurn()) {
      step = IN_TURN.get(turn++ % IN_TURN.size());
    } else if (startsOver) {
      step = OlioStep.HOME_PAGE;
    } else {
      step = OlioStep.ALL.get(step.next().draw(random));
    }
    startsOver = false;
    return OlioStep.ALL.indexOf(step);
  }

  /** Begins the operation that was decided on, or begins it again: a probe does. */
  public void begin() {
    rest.clear();
    met.clear();
    switch (step) {
      case HOME_PAGE -> add(Fetch.page(ROOT + "/", this::homePage));
      case LOGIN -> logIn();
      case TAG_SEARCH -> searchTag();
      case EVENT_DETAIL -> add(Fetch.page(eventPath(event), this::eventPage));
      case PERSON_DETAIL -> add(Fetch.page(personPath(), this::personPage));
      case ADD_PERSON -> addPerson();
      case ADD_EVENT -> add(Fetch.page(ROOT + "/event/addEvent", this::eventForm));
    }
  }

  /** Whether the operation has another request. */
  public boolean more() {
    return !rest.isEmpty();
  }

  /** That request. */
  public Fetch fetch() {
    return rest.getFirst();
  }

  /**
   * Takes the answer of the request.
   *
   * @param answer text of a page, or where a redirection leads; else empty
   */
  public void answered(String answer) {
    rest.removeFirst().then().accept(answer);
  }

  /** Takes a picture: its size in bytes. */
  public void pictured(int bytes) {
    demand(bytes > 0, "a picture is empty");
    if (step == OlioStep.HOME_PAGE) {
      met.add(Outcome.HOME_IMAGE_LOADED);
      for (homeBytes += bytes; homeBytes >= KILOBYTE; homeBytes -= KILOBYTE) {
        met.add(Outcome.HOME_IMAGE_KILOBYTE);
      }
    }
    answered("");
  }

  @Override
  public void ended(boolean failed) {
    rest.clear();
    if (!failed) {
      met.forEach(shared::count);
    } else if (step == OlioStep.LOGIN) {
      forget();
      startsOver = true;
    }
    met.clear();
    startsOver |= event == null;
  }

  @Override
  public Pause pause() {
    return step.cycle();
  }

  private void add(Fetch fetch) {
    rest.add(fetch);
  }

  private void homePage(String body) {
    demand(!body.isEmpty(), "the page is empty");
    rest.addAll(browser.statics(Browser.HOME));
    List<String> images = images(body);
    images.forEach(image -> met.add(Outcome.HOME_IMAGE_LISTED));
    load(images);
    chooseEvent(body);
    demand(event != null, "the home page lists no event");
  }

  /** Logs out first, if need be; with it go the cookies, and all that the browser had kept. */
  private void leaveThen(Runnable next) {
    if (user == null) {
      next.run();
      return;
    }
    Consumer<String> left =
        anywhere -> {
          met.add(Outcome.LOGOUT);
          forget();
          next.run();
        };
    add(new Fetch(Kind.LOGOUT, ROOT + "/logout", Map.of(), left));
  }

  private void forget() {
    user = null;
    self.cookies().clear();
    browser.restart();
  }

  /**
   * Each user has a hundred persons of its own, so that two never log in as the same. Whatever page
   * the log-in leads to, the published driver asks for the home page; servers tell it by its mark
   * from one that is an operation.
   */
  private void logIn() {
    int users = shared.plan.drawn().users();
    int person = random.nextInt(OWN_PERSONS) * users + (int) (self.index() % users) + 1;
    String name = Names.of(person);
    Map<String, String> fields = Map.of("user_name", name, "password", Integer.toString(person));
    Consumer<String> redirected =
        location ->
            add(
                Fetch.page(
                    ROOT + "/event/list?from=login",
                    body -> {
                      demand(!body.contains(LOGGED_OUT), "the page asks for a log-in");
                      user = name;
                    }));
    leaveThen(() -> add(new Fetch(Kind.LOGIN, ROOT + "/person/login", fields, redirected)));
  }

  /** The published driver asks for the same page twice, by its form and by its address. */
  private void searchTag() {
    String tag = Names.of(1 + random.nextInt(shared.plan.drawn().tags()));
    String path = ROOT + "/tag/display";
    Map<String, String> fields = Map.of("tag", tag, "tagsearchsubmit", "Search");
    add(new Fetch(Kind.SEARCH, path, fields, body -> demand(!body.isEmpty(), "the page is empty")));
    add(
        Fetch.page(
            path + "?tag=" + tag,
            body -> {
              demand(!body.isEmpty(), "the page is empty");
              rest.addAll(browser.statics(Browser.TAG));
              List<String> images = images(body);
              images.forEach(image -> met.add(Outcome.TAG_IMAGE_LISTED));
              load(images);
              chooseEvent(body);
            }));
  }

  private void eventPage(String body) {
    demand(!body.isEmpty(), "the page is empty");
    rest.addAll(browser.statics(Browser.EVENT));
    List<String> images = images(body).stream().limit(1).toList();
    images.forEach(image -> met.add(Outcome.EVENT_IMAGE_LISTED));
    load(images);
    if (user != null && body.contains(MAY_ATTEND)) {
      met.add(Outcome.COULD_ATTEND);
      if (random.nextDouble() < ATTENDS) {
        add(
            Fetch.page(
                "%s/api/event/addAttendee?socialEventID=%s&userName=%s"
                    .formatted(ROOT, event, user),
                json -> {
                  demand(json.contains("\"added\""), "the attendee was not added");
                  met.add(Outcome.ATTENDEE_ADDED);
                }));
      }
    }
  }

  private String personPath() {
    int person = 1 + random.nextInt(shared.plan.drawn().persons());
    return ROOT + "/person?actionType=display_person&user_name=" + Names.of(person);
  }

  private void personPage(String body) {
    demand(!body.isEmpty(), "the page is empty");
    rest.addAll(browser.statics(Browser.PERSON));
    load(images(body));
  }

  private void addPerson() {
    leaveThen(() -> add(Fetch.page(ROOT + "/site.jsp?page=addPerson.jsp", this::personForm)));
  }

  private void personForm(String body) {
    demand(!body.isEmpty(), "the page is empty");
    rest.addAll(browser.statics(Browser.FORM));
    Map<String, String> fields = OlioData.person(random, shared.newPerson());
    String path = ROOT + "/api/person/fileuploadPerson?user_name=" + fields.get("user_name");
    add(new Fetch(Kind.PERSON, path, fields, page -> demand(!page.isEmpty(), "the page is empty")));
  }

  private void eventForm(String body) {
    demand(!body.isEmpty(), "the page is empty");
    rest.addAll(browser.statics(Browser.FORM));
    Scale scale = shared.plan.drawn();
    String submitter = Names.of(1 + random.nextInt(scale.persons()));
    Map<String, String> fields = OlioData.event(random, shared.plan.today(), scale, submitter);
    Consumer<String> redirected =
        location ->
            add(
                Fetch.page(
                    resolved(location), page -> demand(!page.isEmpty(), "the page is empty")));
    add(new Fetch(Kind.EVENT, ROOT + "/api/event/addEvent", fields, redirected));
  }

  /** One of the events that a page links becomes the one that is looked at next. */
  private void chooseEvent(String body) {
    List<String> linked = List.copyOf(found(EVENT, body));
    if (!linked.isEmpty()) {
      event = linked.get(random.nextInt(linked.size()));
    }
  }

  private static String eventPath(String event) {
    return ROOT + "/event/detail?socialEventID=" + event;
  }

  private void load(Collection<String> images) {
    browser.unknown(images).forEach(path -> add(Fetch.of(Kind.IMAGE, path)));
  }

  private static List<String> images(String body) {
    return List.copyOf(found(IMAGE, body));
  }

  /** What a pattern finds, each once, in order. */
  private static Set<String> found(Pattern pattern, String body) {
    Set<String> found = new LinkedHashSet<>();
    for (Matcher matcher = pattern.matcher(body); matcher.find(); ) {
      found.add(matcher.group(1));
    }
    return found;
  }

  /** Path and query of a place that may be told in full. */
  private static String resolved(String location) {
    demand(location != null, "it does not say where it leads");
    URI uri = URI.create(location);
    demand(uri.getRawPath().startsWith("/"), "it leads to no path of the server");
    String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    return uri.getRawPath() + query;
  }

  private static void demand(boolean right, String otherwise) {
    if (!right) {
      throw new WrongAnswer(otherwise);
    }
  }
}
