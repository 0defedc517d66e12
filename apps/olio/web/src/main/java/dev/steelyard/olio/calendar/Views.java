// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.olio.entities.Address;
import dev.steelyard.olio.entities.Comment;
import dev.steelyard.olio.entities.Invitation;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import dev.steelyard.olio.entities.Tag;
import java.io.Serializable;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;

/** What pages are about. */
public final class Views {

  /** Entries of a page of a list. */
  public static final int PAGE = 10;

  private Views() {}

  /**
   * Which events are listed.
   *
   * @param zip of their address, or empty
   * @param day on which they are, or null for all that are to come
   * @param byCreated in the order in which they were posted and not in that of their time
   * @param descending the last first
   */
  public record Filter(String zip, LocalDate day, boolean byCreated, boolean descending) {

    /** All that are to come, the nearest first. */
    public static final Filter NONE = new Filter("", null, false, false);
  }

  /** A page of a list, and how long all of it is. */
  public record Listed<T>(List<T> entries, int index, long all) {

    /** A page of what was read whole. */
    public static <T> Listed<T> of(List<T> all, int index) {
      int from = (int) Math.min(all.size(), (long) index * PAGE);
      return new Listed<>(all.subList(from, Math.min(all.size(), from + PAGE)), index, all.size());
    }
  }

  /** A comment and who wrote it. */
  public record Said(Comment comment, Person person) {}

  /** An event with all that belongs to it. */
  public record EventDetail(
      SocialEvent event,
      Address address,
      List<Person> attendees,
      List<Tag> tags,
      List<Said> comments) {

    /** Whether somebody attends it. */
    public boolean attendedBy(String userName) {
      return attendees.stream().anyMatch(each -> each.getUserName().equals(userName));
    }
  }

  /** A person with all that belongs to him; invitations only where he looks himself. */
  public record PersonDetail(
      Person person,
      Address address,
      List<SocialEvent> posted,
      List<Person> friends,
      List<Invitation> incoming,
      List<Invitation> outgoing) {}

  /** Persons that were searched for, and those of them who were invited. */
  public record Found(List<Person> persons, List<String> invited) {}

  /** An event as the sidebar has it, kept in a session. */
  public record Upcoming(int id, String title, LocalDateTime time) implements Serializable {
    static Upcoming of(SocialEvent event) {
      return new Upcoming(event.getId(), event.getTitle(), event.getEventTime());
    }
  }
}
