// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import dev.steelyard.loadgen.journey.Journey;
import dev.steelyard.loadgen.journey.Pause;
import dev.steelyard.loadgen.journey.User;
import dev.steelyard.loadgen.journey.WrongAnswer;
import java.net.URI;
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

  /** Address of the page that was answered last in this visit; null before the first. */
  private String page;

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
    page = null;
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

  /** Notes the address of a page that was answered: what it gives may be relative to that. */
  public void visited(String url) {
    page = url;
  }

  /**
   * The whole address that a text comes to, as a browser has it (RFC 3986, section 5).
   *
   * @param baseUrl of the server, which it has to lead to
   * @throws WrongAnswer if it is no address, or one of another server
   */
  public String address(Template template, String baseUrl) {
    String text = template.of(values).strip();
    URI server = URI.create(baseUrl + "/");
    URI address;
    try {
      address = (page == null ? server : URI.create(page)).resolve(text);
    } catch (IllegalArgumentException e) {
      throw new WrongAnswer("\"%s\" is no address".formatted(text));
    }
    if (!server.getScheme().equalsIgnoreCase(address.getScheme())
        || !server.getHost().equalsIgnoreCase(address.getHost())
        || port(server) != port(address)) {
      throw new WrongAnswer("\"%s\" leads away from %s".formatted(text, baseUrl));
    }
    String whole = address.toASCIIString();
    int fragment = whole.indexOf('#');
    return fragment < 0 ? whole : whole.substring(0, fragment);
  }

  private static int port(URI uri) {
    int usual = uri.getScheme().equalsIgnoreCase("https") ? 443 : 80;
    return uri.getPort() < 0 ? usual : uri.getPort();
  }

  /** Keeps what an answer said for the rest of the visit; null for nothing. */
  public void save(int slot, String value) {
    values[slot] = value;
  }
}
