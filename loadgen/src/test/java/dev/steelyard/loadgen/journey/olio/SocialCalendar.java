// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.olio;

import dev.steelyard.olio.population.Names;
import dev.steelyard.olio.population.Scale;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A calendar with the data of the sheet's rules: ten events on the home page, tags that few or many
 * events have, three events beside every page of a person who is logged in. Its pages hold what
 * users read of them, and no more.
 */
public final class SocialCalendar {
  private static final int SHOWN = 10;

  private final int users;
  private final int events;
  private final Map<String, List<Integer>> byTag = new HashMap<>();
  private final Set<String> attending = ConcurrentHashMap.newKeySet();

  /**
   * @param users that it has data for
   */
  public SocialCalendar(int users) {
    this.users = users;
    int tags = new Scale(users).tags();
    events = new Scale(users).events();
    SplittableRandom random = new SplittableRandom(5);
    for (int event = 1; event <= events; event++) {
      Set<Integer> chosen = new TreeSet<>();
      int wanted = random.nextInt(1, 8);
      while (chosen.size() < wanted) {
        double rank = -Math.log(1 - random.nextDouble()) * 0.1 * tags;
        if (rank < tags) {
          chosen.add(1 + (int) rank);
        }
      }
      for (int tag : chosen) {
        byTag.computeIfAbsent(Names.of(tag), name -> new ArrayList<>()).add(event);
      }
    }
  }

  /** The next events, for a person who is logged in or for anybody (null). */
  public String home(String user) {
    List<Integer> next = new ArrayList<>();
    for (int event = 1; event <= SHOWN; event++) {
      next.add(event);
    }
    return listed(next, user);
  }

  /** The events of a tag. */
  public String tagged(String tag, String user) {
    List<Integer> found = byTag.getOrDefault(tag, List.of());
    return listed(found.subList(0, Math.min(SHOWN, found.size())), user);
  }

  private String listed(List<Integer> shown, String user) {
    StringBuilder page = new StringBuilder("<html>");
    for (int event : shown) {
      page.append(link(event)).append(image("e" + event + "t"));
    }
    return page.append(beside(user)).toString();
  }

  /** An event. */
  public String event(String event, String user) {
    String may = user == null ? "none" : Boolean.toString(attending.contains(event + user));
    return image("e" + event) + "<div data-attending=\"" + may + "\">" + beside(user);
  }

  /** A person, with pictures of one to six friends. */
  public String person(String name, String user) {
    StringBuilder page = new StringBuilder(image("p" + name + "t"));
    SplittableRandom random = new SplittableRandom(name.hashCode());
    for (int friend = Math.min(6, random.nextInt(2, 29)); friend > 0; friend--) {
      page.append(image("p" + random.nextInt(new Scale(users).persons()) + "t"));
    }
    return page.append(beside(user)).toString();
  }

  /** Has a person attend an event. */
  public String attend(String event, String user) {
    return attending.add(event + user) ? "{\"status\": \"added\"}" : "{\"status\": \"attending\"}";
  }

  /** What stands beside every page. */
  private String beside(String user) {
    if (user == null) {
      return "Username";
    }
    SplittableRandom random = new SplittableRandom(user.hashCode());
    Set<Integer> next = new LinkedHashSet<>();
    while (next.size() < 3) {
      next.add(random.nextInt(events) + 1);
    }
    StringBuilder links = new StringBuilder("Hello " + user);
    next.forEach(event -> links.append(link(event)));
    return links.toString();
  }

  private static String link(int event) {
    return "<a href=\"/olio/event/detail?socialEventID=" + event + "\">event</a>";
  }

  private static String image(String name) {
    return "<img class=\"x\" src=\"/olio/access-artifacts/" + name + ".jpg\" alt=\"\" />";
  }
}
