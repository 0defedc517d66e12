// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.Pause;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Plays a declared journey for one user. Between {@link #next} and {@link #ended}, the requests
 * take the values of variables from here, and {@link #save} what answers said.
 */
public final class DeclaredJourney implements Journey {
  /** Visits in a row in which nothing was sent: their conditions will never hold. */
  private static final int MAX_IDLE_VISITS = 100_000;

  /** What {@link #next} gives after the last visit of a journey that is played once. */
  public static final int OVER = -1;

  /** Rounds of the current visit, by loop. */
  final int[] counters;

  private final DeclaredJourneys shared;
  private final User user;
  private final Object[] values;

  private DeclaredJourneys.Visit visit;
  private Program.Send current;
  private int position;
  private int turn;
  private boolean once;

  /** Address of the page that was answered last in this visit; null before the first. */
  private String page;

  DeclaredJourney(DeclaredJourneys shared, User user) {
    this.shared = shared;
    this.user = user;
    values = new Object[shared.slots];
    counters = new int[shared.counters];
  }

  @Override
  public int next() {
    for (int idle = 0; idle < MAX_IDLE_VISITS; idle++) {
      if (visit == null) {
        if (once && turn == shared.visits.length) {
          return OVER;
        }
        begin();
      }
      List<Program.Instruction> code = visit.code();
      while (visit != null && position < code.size()) {
        Program.Instruction instruction = code.get(position++);
        if (instruction instanceof Program.Send send) {
          current = send;
          return send.step();
        }
        position = instruction.run(this, position);
      }
      visit = null;
    }
    throw new IllegalStateException(
        "The journey sends nothing: in %,d visits no condition held".formatted(MAX_IDLE_VISITS));
  }

  private void begin() {
    int chosen = shared.inTurn ? turn++ % shared.visits.length : shared.mix.draw(user.random());
    visit = shared.visits[chosen];
    position = 0;
    page = null;
    forget();
    for (int i = 0; i < shared.draws.size(); i++) {
      values[i] = shared.draws.get(i).apply(user);
    }
    for (Feeder feeder : visit.feeders()) {
      take(feeder);
    }
    if (visit.declared().forgetCookies()) {
      user.cookies().clear();
    }
  }

  /** Forgets what was saved in the visit before, but for what is kept. */
  private void forget() {
    for (int slot = 0; slot < values.length; slot++) {
      if (!shared.kept.get(slot)) {
        values[slot] = null;
      }
    }
  }

  /** Takes the next row of a feeder. */
  void take(Feeder feeder) {
    feeder.fill(values, user);
  }

  @Override
  public void ended(boolean failed) {
    if (failed) {
      // What was still to go over a WebSocket cannot.
      position = current.after();
    }
    if ((failed && !current.declared().step().optional()) || position == visit.code().size()) {
      visit = null;
    }
  }

  @Override
  public boolean canRepeat() {
    return current.declared().isFirst();
  }

  @Override
  public Pause pause() {
    return current.declared().pause();
  }

  /** Ends the visit, whose {@code until} never held. */
  int giveUp() {
    shared.outcomes.accept(DeclaredJourneys.GIVEN_UP);
    visit = null;
    return position;
  }

  /** Makes it end when each visit was made once, in turn. */
  public void playOnce() {
    once = true;
  }

  /** The variables that have a value, by name; forms are none. */
  public Map<String, Object> saved() {
    Map<String, Object> saved = new LinkedHashMap<>();
    List<String> names = shared.names();
    for (int i = 0; i < values.length; i++) {
      if (values[i] instanceof String || values[i] instanceof List) {
        saved.put(names.get(i), values[i]);
      }
    }
    return saved;
  }

  /** Who it is. */
  public User user() {
    return user;
  }

  /** The text of a template. */
  public String text(Template template) {
    return template.of(values);
  }

  /** The same, or null where a value is missing. */
  String known(Template template) {
    try {
      return template.of(values);
    } catch (WrongAnswer missing) {
      return null;
    }
  }

  /** Whether a variable has a value; one with a list of none has not. */
  boolean has(int slot) {
    return values[slot] instanceof List<?> list ? !list.isEmpty() : values[slot] != null;
  }

  /** All values of a variable. */
  List<?> list(int slot) {
    Object value = values[slot];
    if (value instanceof List<?> list) {
      return list;
    }
    return value == null ? List.of() : List.of(value);
  }

  /** Notes the address of a page that was answered: what it gives may be relative to that. */
  public void visited(String url) {
    page = url;
  }

  /**
   * The whole address that a text comes to, as a browser has it; a character that no address may
   * hold is percent-encoded.
   *
   * @param baseUrl of the server, which it has to lead to
   * @throws WrongAnswer if it leads to another server
   */
  public String address(Template template, String baseUrl) {
    return address(template.of(values), baseUrl);
  }

  /** The same of a text without names. */
  public String address(String given, String baseUrl) {
    Address server = Address.parse(baseUrl + "/");
    Address address = Address.parse(given).from(page == null ? server : Address.parse(page));
    if (!address.isAtServerOf(server)) {
      throw new WrongAnswer("\"%s\" leads away from %s".formatted(given.strip(), baseUrl));
    }
    return address.toString();
  }

  /** Keeps what an answer said, for the rest of the visit or longer; null for nothing. */
  public void save(int slot, Object value) {
    values[slot] = value;
  }

  /** What was kept there. */
  public Object saved(int slot) {
    return values[slot];
  }
}
